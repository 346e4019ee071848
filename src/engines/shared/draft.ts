/** Drafts migrations for each engine: what the model needs and the known migrations do not make. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  contentMigrations,
  type EngineName,
  historyOf,
  type Migration,
  outsideMark,
} from '#engines/shared/migrations.ts'
import {
  columnDdl,
  type Ddl,
  type Definition,
  definitionsOf,
  hasDefault,
} from '#engines/shared/schema.ts'
import { columnName, type Entities } from '#model/model.ts'

/** What migrations make: the text of each object by its name; that of a column, named `table.column`, is not used. */
type MadeObjects = ReadonlyMap<string, string>

/** What an engine knows of its own DDL. */
export type Drafting = {
  readonly engine: EngineName
  readonly madeBy: (migrations: readonly Migration[]) => MadeObjects
  readonly ddl: Ddl
  /** The statements that replace a function or a trigger. */
  readonly replace: (definition: Definition) => readonly string[]
  /** The statement that makes an object outside a transaction, if its table is in use; null: it may be made inside. */
  readonly outside: (definition: Definition) => string | null
  /** The statements that put an index in the place of the one of its name. */
  readonly replaceIndex: (definition: Definition) => Lack
  /** The statements that drop a trigger of a table. */
  readonly dropTrigger: (name: string, table: string) => readonly string[]
}

/** The statements that a store lacks: those that run inside one transaction, then those that run outside any. */
type Lack = { readonly inside: readonly string[]; readonly outside: readonly string[] }

const isUnique = (text: string) => /^create unique index/i.test(text.trim())

/** Whether a definition is that of an index. */
export const isIndex = ({ text }: Definition): boolean => /^create (unique )?index /.test(text)

/** A text in the form that is compared: white space made equal, without `or replace`. */
const plain = (text: string) =>
  text
    .replace(/\s+/g, ' ')
    .replace(/^create (or replace )?/i, 'create ')
    .replace(/^create trigger/i, 'create trigger')

/** What these entities need and the migrations do not make, in an order in which it can be made. */
export const lackOf = (
  drafting: Drafting,
  entities: Entities,
  migrations: readonly Migration[],
): Lack => {
  const made = drafting.madeBy(migrations)
  const inside: string[] = []
  const outside: string[] = []
  for (const [name, { table, fields, appendOnly }] of Object.entries(entities)) {
    if (!made.has(table)) continue
    for (const [key, field] of Object.entries(fields)) {
      if (made.has(`${table}.${columnName(key)}`)) continue
      if (!field.nullable && field.foldedFrom !== undefined && !appendOnly)
        throw new Error(
          `${name}.${key} cannot be added to rows that exist, which would have no copy: make it nullable, and duet migrate fills it from ${field.foldedFrom}`,
        )
      if (!field.nullable && !hasDefault(field))
        throw new Error(
          `${name}.${key} cannot be added to rows that exist, which would have no value: make it nullable, or give it an initial value`,
        )
      inside.push(
        `alter table ${table} add column ${columnDdl(drafting.ddl, entities, key, field)}`,
      )
    }
  }
  for (const definition of definitionsOf(drafting.ddl, entities)) {
    const { name, text, of, fill = [] } = definition
    const existing = made.get(name)
    const isInUse = of !== undefined && made.has(of)
    const concurrent = isInUse ? drafting.outside(definition) : null
    const isCode = /^create (function|trigger) /.test(text)
    if (existing === undefined) {
      if (concurrent !== null) outside.push(concurrent)
      else inside.push(text, ...(isInUse ? fill : []))
    } else if (isIndex(definition) && isUnique(existing) !== isUnique(text)) {
      const lack = drafting.replaceIndex(definition)
      inside.push(...lack.inside)
      outside.push(...lack.outside)
    } else if (isCode && plain(existing) !== plain(text))
      inside.push(...drafting.replace(definition))
  }
  // The triggers of fields that are counted no longer go: one that is counted again later is then counted anew.
  for (const { table, fields, counted } of Object.values(entities))
    for (const key of Object.keys(fields)) {
      const name = `${table}_count_${columnName(key)}`
      if (made.has(name) && !counted?.includes(key))
        inside.push(...drafting.dropTrigger(name, table))
    }
  return { inside, outside }
}

const textOf = (statements: readonly string[]) => `${statements.join(';\n\n')};\n`

/** The migrations that make what is missing: none, one, or two if some of it must run outside a transaction. */
export const migrationsFor = (
  { inside, outside }: Lack,
  number: number,
  name: string,
): readonly Migration[] => {
  const first = inside.length === 0 ? [] : [{ name, text: textOf(inside) }]
  const last = inside.length === 0 ? name : `${name}-indexes`
  const second = outside.length === 0 ? [] : [{ name: last, text: outsideMark + textOf(outside) }]
  return [...first, ...second].map(({ name, text }, index) => ({
    name: `${String(number + index).padStart(4, '0')}-${name}`,
    text,
  }))
}

/** Writes the next migration into `folder` for each engine that lacks something, with one number and name; gives the paths. */
export const draftMigrations = (
  draftings: readonly Drafting[],
  entities: Entities,
  title: string,
  folder: URL,
): readonly string[] => {
  const name = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  const known = draftings.flatMap(({ engine }) => contentMigrations(engine, folder))
  // An engine for which an earlier draft had nothing to do has no file with that number.
  const number = Math.max(0, ...known.map(({ name }) => Number.parseInt(name, 10))) + 1
  return draftings.flatMap(drafting => {
    const { engine } = drafting
    const lack = lackOf(drafting, entities, historyOf(engine, folder))
    return migrationsFor(lack, number, name).map(({ name, text }) => {
      const file = fileURLToPath(new URL(`${engine}/${name}.sql`, folder))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text, { flag: 'wx' })
      return file
    })
  })
}
