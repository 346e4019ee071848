// Writes the parts of the documents that the code decides, between their markers; `npm run docs`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import content from '../content/duet.config.ts'
import { graphqlRules, ruleOf } from '../kit/contract/graphql.ts'
import { classes, rules } from '../kit/contract/rules.ts'
import { loadConfig } from '../src/config.ts'
import { machineErrors, mergeErrors } from '../src/errors.ts'
import { inWords, rightsInWords } from '../src/model/policy.ts'
import { resourceIn } from '../src/model/resource.ts'
import { memberNames } from '../src/rest/query.ts'
import { routesOf } from '../src/rest/routes.ts'
import { modelFor } from '../src/serve/store.ts'
import { settings } from '../src/settings.ts'
import { createWorld } from '../test/world.ts'
import { signatures } from './signatures.mjs'
import { sizingRows } from './sizing.mjs'
import { clusterLines, withTests } from './threats.mjs'

const model = modelFor(loadConfig({}, content.settings), content)
const entities = Object.entries(model.entities)
const read = name => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

const code = text => (text === '' ? '' : `\`${text}\``)
const cell = text => String(text).replaceAll('|', '\\|')
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.map(cell).join(' | ')} |`).join('\n')

/** The parts by document and name. */
export const parts = {
  'bench/capacity.md': { sizing },
  'bench/cluster.md': { rounds },
  'docs/settings.md': { settings: settingsTable },
  'docs/errors.md': { errors: errorList },
  'docs/policy.md': { operations, fields, actions: actionsTable },
  'docs/rest.md': { routes, members, lists },
  'kit/contract/rules.md': { rules: rulesByClass, graphql: graphqlRulesTable },
  'test/threats.md': { threats: own => withTests(own) },
}

function sizing() {
  return table(['What', 'How', 'So much'], sizingRows(read('bench/capacity.md')))
}

function rounds() {
  return clusterLines().join('\n')
}

function settingsTable() {
  const rows = Object.entries({ ...settings, ...content.settings }).map(
    ([name, { usual, about }]) => [code(name), code(usual), about],
  )
  return table(['Setting', 'Unless set', 'What it is'], rows)
}

function errorList() {
  return [...mergeErrors(machineErrors, content.errors).values()]
    .map(({ code: name, status, title }) => `* ${code(name)} (${status}): ${title}`)
    .join('\n')
}

function operations() {
  const rows = entities.map(([name, { policy }]) => [
    name,
    ...rightsInWords(policy, content.viewers.roles).map(({ who }) => who),
  ])
  return table(
    ['Resource', 'Read, nested', 'Read, at the root', 'Create', 'Change', 'Delete'],
    rows,
  )
}

/** The fields that not everybody may read or set, by who may. */
function fields() {
  const { roles } = content.viewers
  const who = (rule, verb) =>
    rule.kind === 'anyone' ? `anyone who may ${verb} it` : inWords(rule, roles)
  const told = entities.flatMap(([name, entity]) =>
    Object.entries(entity.fields)
      .filter(([, field]) => field.rest || field.graphql !== 'hidden')
      .filter(([, { readableBy, settableBy }]) =>
        [readableBy, settableBy].some(({ kind }) => kind !== 'anyone'),
      )
      .map(([key, { readableBy, settableBy }]) => ({
        field: code(`${name}.${key}`),
        read: who(readableBy, 'read'),
        set: settableBy.kind === 'nobody' ? 'only the service' : who(settableBy, 'write'),
      })),
  )
  const groups = Map.groupBy(told, ({ read, set }) => `${read}, ${set}`)
  const rows = [...groups.values()].map(some => {
    const [{ read, set }] = some
    return [some.map(({ field }) => field).join(', '), read, set]
  })
  return table(['Fields', 'May be read by', 'May be set by'], rows)
}

/** `/users/:id` as a caller reads it: `/users/{userId}`. */
const shown = path => path.replace(/(\w+)s\/:\w+/g, '$1s/{$1Id}')

function actionsTable() {
  const rows = content.actions.map(({ name, method, path, rule }) => [
    name,
    code(`${method} ${shown(`/api${path}`)}`),
    rule ? inWords(rule, content.viewers.roles) : 'nobody',
  ])
  return table(['Action', 'Request', 'May'], rows)
}

/** The routes, from the app itself so that none is left out. */
async function routes() {
  const { app, close } = await createWorld()
  await close()
  const all = app.routes
    .filter(({ path }) => /^\/api\/(?!v\d)/.test(path))
    .map(({ method, path }) => ({ method, path: shown(path) }))
  const paths = [...new Set(all.map(({ path }) => path))].sort()
  const order = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  const methodsOf = path =>
    order.filter(method => all.some(route => route.path === path && route.method === method))
  return paths.map(path => `* ${code(path)}: ${methodsOf(path).join(', ')}`).join('\n')
}

const names = links => Object.keys(links).map(code).join(', ')

function linksOf({ links }) {
  if (links === null) return ''
  if (links.by === null) return names(links.cases.all)
  const cases = Object.entries(links.cases).map(([value, some]) => `${value}: ${names(some)}`)
  return `by ${code(links.by)}; ${cases.join('; ')}`
}

function members() {
  const rows = entities
    .filter(([, { policy }]) => policy.read && policy.read.kind !== 'nobody')
    .map(([name, entity]) => [
      name,
      memberNames(resourceIn(name, entity, 1))
        .filter(member => member !== '_links')
        .map(code)
        .join(', '),
      linksOf(entity),
    ])
  return table(['Object', 'Members', '`_links`'], rows)
}

/** The rules by their two classes, the gravest first. */
function rulesByClass() {
  const groups = Map.groupBy(Object.entries(rules), ([, { sent, read }]) => `${sent} | ${read}`)
  const pairs = classes.flatMap(sent => classes.map(read => `${sent} | ${read}`))
  return table(
    ['Sent', 'Read', 'Rules'],
    pairs.flatMap(pair => {
      const own = groups.get(pair) ?? []
      const names = own.map(([name]) => code(name)).join(', ')
      return own.length === 0 ? [] : [[...pair.split(' | '), names]]
    }),
  )
}

function graphqlRulesTable() {
  return table(
    ['Class', 'Rules'],
    classes.map(name => [
      name,
      Object.entries(graphqlRules)
        .filter(([, level]) => level === name)
        .map(([type]) => code(ruleOf(type)))
        .join(', '),
    ]),
  )
}

/** How many a page of a list has, and which parameters choose and sort its rows: in version 1, as the page shows it. */
function lists() {
  const kinds = Map.groupBy(routesOf(model), ({ kind }) => kind)
  const byShape = Map.groupBy(kinds.get('list'), ({ entity }) => {
    const resource = resourceIn(entity, model.entities[entity], 1)
    const { pageSize, rest } = resource.entity
    const { paging, sort } = rest.listing
    const names = resource.sorts.map(({ name }) => code(name)).join(', ')
    const pages = {
      page: '`page`',
      cursor: '`cursor`',
      'page or offset': '`page`, or `offset`, which wins',
    }
    const orders = {
      'field and order': `one of ${names}, with \`order=asc\` or \`desc\``,
      'signed list': `some of ${names}, with commas between`,
    }
    const order = sort ? orders[sort.style] : paging === 'cursor' ? 'newest first, always' : ''
    const filters = Object.keys(resource.filters).map(code).join(', ')
    return table([], [[pages[paging], pageSize, filters, order]])
      .split('\n')
      .at(-1)
  })
  return [
    table(['List', 'Pages', '`limit` unless given', 'Filters', '`sort`'], []),
    ...[...byShape].map(
      ([shape, routes]) => `| ${routes.map(({ path }) => code(shown(path))).join(', ')} ${shape}`,
    ),
  ].join('\n')
}

/** A document with its generated parts renewed from the code. */
export async function renewed(name) {
  let text = read(name)
  for (const [part, make] of Object.entries(parts[name])) {
    const begin = `<!-- made by npm run docs: ${part} -->\n`
    const [before, rest] = text.split(begin)
    const end = rest?.indexOf('<!-- end -->') ?? -1
    if (end < 0) throw new Error(`${name} has no place for ${part}: put in ${begin}<!-- end -->`)
    text = `${before}${begin}\n${await make(rest.slice(0, end).trim())}\n\n${rest.slice(end)}`
  }
  return text
}

/** The one file of the contract that changes of the code inside often reach, and that no caller of the APIs sees. */
const signaturesFile = 'contract/package.d.ts'

if (import.meta.main)
  for (const name of [...Object.keys(parts), signaturesFile]) {
    const text = name === signaturesFile ? signatures() : await renewed(name)
    if (existsSync(new URL(`../${name}`, import.meta.url)) && text === read(name)) continue
    writeFileSync(new URL(`../${name}`, import.meta.url), text)
    console.log(`${name} written anew`)
  }
