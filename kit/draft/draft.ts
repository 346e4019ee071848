/** `duet migrate --draft`: drafts migrations for each engine, what the model needs and the known migrations do not make. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Config, loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import {
  type Catalogue,
  catalogueOf,
  type MadeObject,
  type MadeObjects,
  shapeOf,
} from '#engines/shared/catalogue.ts'
import {
  differencesIn,
  formerName,
  isMadePart,
  leftOver,
  type TableChange,
} from '#engines/shared/differences.ts'
import {
  contentMigrations,
  historyBefore,
  type Migration,
  outsideMark,
} from '#engines/shared/migrations.ts'
import {
  columnDdl,
  type Definition,
  defaultValue,
  definitionsOf,
  valuesCheck,
} from '#engines/shared/schema.ts'
import type { Drafting, Lack } from '#kit/draft/drafting.ts'
import { postgresDrafting } from '#kit/draft/postgres.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { columnName, type Entities, valuesName } from '#model/model.ts'
import { storeOf } from '#serve/store.ts'

/** A question that only a person answers: whether a field is a column that is left over, by another name. */
export class RenameQuestion extends Error {
  readonly entity: string
  readonly field: string
  /** The name that the field of the column would have had. */
  readonly former: string
  constructor(entity: string, field: string, column: string) {
    const former = column.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
    super(
      `is ${entity}.${field} the column ${column} by another name? Then give it renamed: '${former}', else renamed: false, and draft again`,
    )
    this.entity = entity
    this.field = field
    this.former = former
  }
}

const stopped = '-- breaks: the release before must be stopped\n'

/** The statements that rename the columns of fields that say so; those of the machine's objects that have the old name in theirs go. */
const renamesOf = (
  drafting: Drafting,
  entities: Entities,
  made: MadeObjects,
): readonly string[] => {
  // Of what is about two columns that are renamed, each statement once.
  const statements = new Set<string>()
  const catalogue = catalogueOf(made)
  for (const [name, entity] of Object.entries(entities)) {
    const { table, fields } = entity
    const stored = catalogue.get(table)
    if (!stored || entity.view) continue
    const columns = Object.keys(fields).map(columnName)
    for (const [key, field] of Object.entries(fields)) {
      const column = columnName(key)
      if (stored.columns.has(column)) continue
      const { renamed } = field
      if (renamed === undefined) {
        const former = formerName(drafting.ddl, entity, field, stored)
        if (former === undefined) continue
        throw new RenameQuestion(name, key, former)
      }
      if (renamed === false) continue
      const former = columnName(renamed)
      // A text that was not searched or unique before has no copy yet.
      if (field.copied && !stored.columns.has(former)) continue
      if (!stored.columns.has(former))
        throw new Error(
          `${name}.${key} was renamed from ${renamed}, but ${table} has no such column: name one of ${leftOver(entity, stored).join(', ') || 'those that it has'}, or leave renamed out`,
        )
      const isAbout = new RegExp(`\\b${former}\\b`)
      for (const [part, { text, of }] of made) {
        const isPart = of === table && isMadePart(part) && isAbout.test(part + text)
        if (isPart && /^create (unique )?index /i.test(text)) statements.add(`drop index ${part}`)
        else if (isPart && /^create trigger /i.test(text))
          for (const one of drafting.change({ kind: 'trigger', table, name: part }, made).inside ??
            [])
            statements.add(one)
        else if (
          part.startsWith(`${table}_`) &&
          /^create virtual /i.test(text) &&
          isAbout.test(text)
        )
          statements.add(`drop table ${part}`)
      }
      statements.add(`${stopped}alter table ${table} rename column ${former} to ${column}`)
      // A copy that nothing keeps any more is known by the name of its text.
      for (const end of ['words', 'nfc'])
        if (stored.columns.has(`${former}_${end}`) && !columns.includes(`${column}_${end}`))
          statements.add(`alter table ${table} rename column ${former}_${end} to ${column}_${end}`)
      if (field.values && stored.checks.some(({ name }) => name === valuesName(former)))
        statements.add(`alter table ${table} drop constraint ${valuesName(former)}`)
    }
  }
  return [...statements]
}

/** What is said above a table that is made beside one that no entity has any more and that has all its columns. */
const newTable = (entities: Entities, catalogue: Catalogue, table: string): string => {
  const all = Object.values(entities)
  const fields = Object.keys(all.find(one => one.table === table)?.fields ?? {})
  for (const [name, { columns }] of catalogue)
    if (all.every(one => one.table !== name) && fields.every(key => columns.has(columnName(key))))
      return `-- ${name} has these columns: if ${table} is its new name, give the entity table: '${name}' and draft again\n`
  return ''
}

/**
 * What these entities need and the migrations do not make upon what is there, in an order in which it can be made. Throws a sentence for
 * each difference that a person must remove.
 */
export const lackOf = (
  drafting: Drafting,
  entities: Entities,
  migrations: readonly Migration[],
  base?: MadeObjects,
): Lack => {
  const { ddl } = drafting
  const inside: string[] = []
  const outside: string[] = []
  const guards: string[] = []
  const madeSoFar = () =>
    drafting.madeBy(
      inside.length + outside.length === 0
        ? migrations
        : [...migrations, { name: 'the draft', text: textOf([...inside, ...outside]) }],
      base,
    )
  const first = madeSoFar()
  inside.push(...renamesOf(drafting, entities, first))
  const renamed = inside.length === 0 ? first : madeSoFar()
  const differences = differencesIn(ddl, entities, catalogueOf(renamed))
  const byHand = differences.filter(one => !one.isServed && !one.change && !one.isAdded)
  if (byHand.length > 0) throw new Error(byHand.map(({ text }) => text).join('\n'))
  const changes = differences.flatMap(({ change }) => change ?? [])
  const isDrop = ({ kind }: TableChange) => /^(?:index|trigger|table)$/.test(kind)
  const add = (change: TableChange) => {
    const lack = drafting.change(change, renamed)
    inside.push(...(lack.inside ?? []))
    outside.push(...(lack.outside ?? []))
    guards.push(...(lack.guards ?? []))
  }
  const definitions = definitionsOf(ddl, entities)
  // New tables come first, as references of those that are there may lead to them.
  for (const { name, text } of definitions)
    if (/^create table /.test(text) && !renamed.has(name))
      inside.push(newTable(entities, catalogueOf(renamed), name) + text)
  for (const change of changes) if (!isDrop(change)) add(change)
  const isMade = ({ name, text, of = '' }: Definition) => {
    const there = renamed.get(name)
    return there?.of === of && shapeOf(there.text) === shapeOf(text)
  }
  // What is kept of other rows or fields than before is made anew, with what there is of them.
  const again = new Set<string>()
  for (const one of definitions) {
    const table = /^create trigger \w+_kept_/.test(one.text) && renamed.get(one.name)?.of
    const called = definitions.find(({ name }) => name === `${one.name}()`) ?? one
    if (!table || (isMade(one) && isMade(called))) continue
    add({ kind: 'trigger', table, name: one.name })
    again.add(one.name)
  }
  const made = madeSoFar()
  for (const [name, entity] of Object.entries(entities)) {
    const { table, fields, appendOnly, view } = entity
    if (!made.has(table) || view) continue
    for (const [key, field] of Object.entries(fields)) {
      const column = columnName(key)
      // A copy that nothing kept for a while is of texts that have changed; duet migrate fills it.
      const isAbout = ([part, { of, text }]: readonly [string, MadeObject]) =>
        new RegExp(`\\b${column}\\b`).test(text) &&
        (/^create virtual /i.test(text)
          ? part.startsWith(`${table}_`)
          : of === table && / index /i.test(text))
      const isStale = field.copied && first.has(`${table}.${column}`) && ![...first].some(isAbout)
      if (isStale && !appendOnly)
        inside.push(`update ${table} set ${column} = null where ${column} is not null`)
      if (made.has(`${table}.${column}`)) continue
      if (!field.nullable && field.foldedFrom !== undefined && !appendOnly)
        throw new Error(
          `${name}.${key} cannot be added to rows that exist, which would have no copy: make it nullable, and duet migrate fills it from ${field.foldedFrom}`,
        )
      if (!field.nullable && defaultValue(field) === '' && !field.computed)
        throw new Error(
          `${name}.${key} cannot be added to rows that exist, which would have no value: make it nullable${field.initial === undefined ? ', or give it an initial value' : ''}`,
        )
      const whole = `${columnDdl(ddl, entities, entity, key)} ${valuesCheck(column, field)}`
      inside.push(`alter table ${table} add column ${whole}`.trimEnd())
    }
  }
  for (const definition of definitions) {
    const { name, text, of, fill = [] } = definition
    const existing = made.get(name)?.text
    const part = { table: of ?? '', name, definition }
    if (existing !== undefined) {
      if (!/^create table /.test(text) && shapeOf(existing) !== shapeOf(text))
        add({ kind: 'other', ...part })
    } else if (renamed.has(part.table)) add({ kind: 'new', ...part })
    else inside.push(text, ...(again.has(name) ? fill : []))
  }
  for (const change of changes) if (isDrop(change) && !again.has(change.name)) add(change)
  // What comes first would stay where a later part fails, and then neither release starts.
  if (inside.length > 0 || guards.length > 1) inside.push(...guards)
  return { inside, outside }
}

/** A statement of a draft for a store that was changed by hand, so that others can run it too: they may have what it makes. */
const again = (statement: string): readonly string[] => {
  const [, kind = '', name] = /^create (trigger|index|unique index) (\w+) /.exec(statement) ?? []
  const replaced = statement
    .replace(/^create function /, 'create or replace function ')
    .replace(/^create (trigger .* execute function )/, 'create or replace $1')
    .replace(/^drop (trigger|index|table|function) (?!if exists)/, 'drop $1 if exists ')
  const isGiven = name === undefined || replaced !== statement
  return isGiven ? [replaced] : [`drop ${kind.replace('unique ', '')} if exists ${name}`, statement]
}

const textOf = (statements: readonly string[]) => `${statements.join(';\n\n')};\n`

/** The migrations that make what is missing: none, one, or two if some of it must run outside a transaction. */
export const migrationsFor = (
  { inside, outside }: Lack,
  number: number,
  name: string,
): readonly Migration[] => {
  const first = inside.length === 0 ? [] : [{ name, text: textOf(inside) }]
  const what = outside.some(text => / index /.test(text)) ? 'indexes' : 'validated'
  const last = inside.length === 0 ? name : `${name}-${what}`
  const second = outside.length === 0 ? [] : [{ name: last, text: outsideMark + textOf(outside) }]
  return [...first, ...second].map(({ name, text }, index) => ({
    name: `${String(number + index).padStart(4, '0')}-${name}`,
    text,
  }))
}

/**
 * Writes the next migration into `folder` for each engine that lacks something, with one number and name; gives the paths. If a store is
 * given, it writes what that one lacks of what the migrations make.
 */
export const draftMigrations = (
  draftings: readonly Drafting[],
  entities: Entities,
  title: string,
  folder: URL,
  store?: MadeObjects,
): readonly string[] => {
  const name = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  if (name === '') throw new Error('--draft needs a name with letters or digits, such as add-size')
  const known = draftings.flatMap(({ engine }) => contentMigrations(engine, folder))
  // An engine for which an earlier draft had nothing to do has no file with that number.
  const number = Math.max(0, ...known.map(({ name }) => Number.parseInt(name, 10) || 0)) + 1
  return draftings.flatMap(drafting => {
    const { engine } = drafting
    const history = store ? [] : historyBefore(engine, folder)
    const { inside, outside } = lackOf(drafting, entities, history, store)
    const lack = { inside: store ? inside.flatMap(again) : inside, outside }
    return migrationsFor(lack, number, name).map(({ name, text }) => {
      const file = fileURLToPath(new URL(`${engine}/${name}.sql`, folder))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text, { flag: 'wx' })
      return file
    })
  })
}

/** What a draft of these statements is called by itself: the table that is changed first, and the column that it gets. */
export const titleOf = (statements: string): string => {
  const [, table = 'change', added, to] =
    /^(?:(?:create|alter) table|create (?:unique )?index \w+ on) (\w+)(?: add column (\w+)| rename column \w+ to (\w+))?/m.exec(
      statements,
    ) ?? []
  // One that takes the place of another gets the name of that last.
  const [, last = added] = new RegExp(` rename column ${added} to (\\w+)`).exec(statements) ?? []
  return [table, last ?? to ?? []].flat().join('-').replaceAll('_', '-')
}

/** Both engines' parts of a draft. */
export const draftings = [sqliteDrafting, postgresDrafting]

export const help = 'Usage: duet migrate --draft NAME'

/** What the store of the settings has, if it has all migrations; undefined if there is none, or it does not answer, which is said. */
const madeIn = async (config: Config, content: Content): Promise<MadeObjects | undefined> => {
  if (config.store.kind === 'sqlite' && !existsSync(config.store.file)) return undefined
  const store = await storeOf(config, content)
  try {
    return (await store.pending()).length === 0 ? await store.made() : undefined
  } catch (error) {
    process.stderr.write(`duet: ${store.label} was not looked at: ${(error as Error).message}\n`)
    return undefined
  }
}

export const run = async ([name = '']: readonly string[], content: Content): Promise<void> => {
  const { entities, migrations } = content
  let files = draftMigrations(draftings, entities, name, migrations)
  if (files.length === 0) {
    const config = loadConfig(process.env, content.settings)
    const own = draftings.filter(({ engine }) => engine === config.store.kind)
    const made = await madeIn(config, content)
    if (made) files = draftMigrations(own, entities, name, migrations, made)
  }
  process.stdout.write(
    files.length === 0
      ? 'the migrations make all that the model has\n'
      : `wrote ${files.map(file => relative('', file)).join(', ')}; read what they say before you commit them\n`,
  )
}
