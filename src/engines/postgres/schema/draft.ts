/** Reads from the text of the migrations what they make in PostgreSQL, so that drafting needs no server. */

import { ddl } from '#engines/postgres/schema/ddl.ts'
import { type Drafting, isIndex } from '#engines/shared/draft.ts'
import { statementsOf } from '#engines/shared/migrations.ts'

/** An object that the migrations have made: its text, and the table that it belongs to. */
type Thing = { readonly text: string; readonly of: string }

type Things = Map<string, Thing>

/** Words and signs that do not change which objects a statement is about. */
const fillers =
  /"|\b(?:if not exists|if exists|or replace|unlogged|concurrently|only|column)\s|\bunique (?=index\b)/gi

/** The parts of a text between commas, except commas within brackets and quotes. */
const parts = (text: string): readonly string[] => {
  const found = ['']
  let depth = 0
  for (const [piece] of text.matchAll(/'(?:[^']|'')*'|[(),]|[^'(),]+/g)) {
    if (piece === '(') depth++
    if (piece === ')') depth--
    if (piece === ',' && depth === 0) found.push('')
    else found[found.length - 1] += piece
  }
  return found.map(part => part.trim())
}

const forget = (things: Things, name: string) => {
  things.delete(name)
  for (const [other, { of }] of things) if (of === name) things.delete(other)
}

const rename = (things: Things, from: string, to: string) => {
  const thing = things.get(from)
  if (!thing) return
  things.delete(from)
  things.set(to, thing)
}

const renameTable = (things: Things, from: string, to: string) => {
  rename(things, from, to)
  for (const [name, thing] of [...things]) {
    if (thing.of !== from) continue
    things.set(name, { ...thing, of: to })
    if (name.startsWith(`${from}.`)) rename(things, name, `${to}.${name.slice(from.length + 1)}`)
  }
}

const addColumn = (things: Things, table: string, name = '') =>
  things.set(`${table}.${name}`, { text: '', of: table })

/** The change of the objects by a statement of one form, given the two words that the form has matched. */
type Act = (things: Things, first: string, second: string, text: string) => void
type Forms = readonly (readonly [RegExp, Act])[]

const alter: Act = (things, table, text) => {
  const actions: Forms = [
    [
      /^add (?!(?:constraint|check|primary|unique|foreign|exclude)\b)(\w+)/i,
      (_, name) => addColumn(things, table, name),
    ],
    [/^drop (?!constraint\b)(\w+)/i, (_, name) => things.delete(`${table}.${name}`)],
    [/^rename to (\w+)/i, (_, to) => renameTable(things, table, to)],
    [
      /^rename (?!constraint\b)(\w+) to (\w+)/i,
      (_, from, to) => rename(things, `${table}.${from}`, `${table}.${to}`),
    ],
  ]
  // Other actions change no names.
  for (const part of parts(text)) actOn(actions, things, part, part)
}

const create: Act = (things, name, of, text) => things.set(name, { text, of })

const createTable: Act = (things, table, body, text) => {
  create(things, table, '', text)
  for (const part of parts(body.slice(0, body.lastIndexOf(')'))))
    if (!/^(primary key|unique|check|constraint|foreign key|exclude|like)\b/i.test(part))
      addColumn(things, table, part.split(/\s/)[0])
}

const drop =
  (suffix = ''): Act =>
  (things, names) => {
    for (const part of parts(names)) forget(things, `${part.split(/[\s(]/)[0]}${suffix}`)
  }

/** The forms of statements that make, rename or drop objects, and of those that change none. */
const forms: Forms = [
  [/^create table (\w+)\s*\(([\s\S]*)$/i, createTable],
  [/^create (?:sequence|extension) (\w+)/i, create],
  [/^create index (\w+)\s+on (\w+)/i, create],
  [/^create function (\w+\(\))/i, create],
  [/^create trigger (\w+)\s[\s\S]*?\son (\w+)/i, create],
  [/^alter table (\w+)\s+([\s\S]*)$/i, alter],
  [/^alter index (\w+) rename to (\w+)/i, rename],
  [/^drop (?:table|index|sequence|extension) ([\s\S]*)$/i, drop()],
  [/^drop trigger (\w+)/i, drop()],
  [/^drop function ([\s\S]*)$/i, drop('()')],
  [/^(insert|update|delete|select|with|lock|set|analyze|vacuum|comment)\b/i, () => {}],
  [/^do\b(?![\s\S]*\b(?:create|alter|drop)\b)/i, () => {}],
]

/** Acts by the first form that matches a text; false where none does. */
const actOn = (forms: Forms, things: Things, plain: string, text: string): boolean =>
  forms.some(([form, act]) => {
    const found = form.exec(plain)
    if (found) act(things, found[1] ?? '', found[2] ?? '', text)
    return found !== null
  })

const read = (things: Things, migration: string, text: string) => {
  if (actOn(forms, things, text.replace(fillers, ''), text)) return
  const [line] = text.split('\n')
  throw new Error(`a draft cannot tell what the migration ${migration} makes by: ${line}`)
}

/** The statement that makes an index while its table is in use. */
const concurrently = (text: string): string =>
  text.replace(' index ', ' index concurrently if not exists ')

export const postgresDrafting: Drafting = {
  engine: 'postgres',
  madeBy: migrations => {
    const things: Things = new Map()
    for (const { name, text } of migrations)
      for (const statement of statementsOf(text)) read(things, name, statement)
    return new Map([...things].map(([name, { text }]) => [name, text]))
  },
  ddl,
  replace: ({ text }) => [text.replace(/^create /, 'create or replace ')],
  outside: definition => (isIndex(definition) ? concurrently(definition.text) : null),
  // The new one first, so that its readers are never without.
  replaceIndex: ({ name, text }) => {
    const next = `next_${name}`
    const made = concurrently(text.replace(` ${name} `, ` ${next} `))
    const dropped = `drop index concurrently if exists ${name}`
    return { inside: [], outside: [made, dropped, `alter index ${next} rename to ${name}`] }
  },
  dropTrigger: (name, table) => [`drop trigger ${name} on ${table}`, `drop function ${name}()`],
}
