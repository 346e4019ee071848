/** Drafts migrations for each engine: what the model needs and the known migrations do not make. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  columnDdl,
  type Ddl,
  type Definition,
  definitionsOf,
  hasDefault,
} from '#engines/shared/ddl.ts'
import {
  contentMigrations,
  type EngineName,
  historyOf,
  type Migration,
  outsideMark,
} from '#engines/shared/migrations.ts'
import type { Entity } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { columnName, type Entities } from '#model/model.ts'

/** What migrations make: the text of each object by its name; that of a column, named `table.column`, is not used. */
type Made = ReadonlyMap<string, string>

/** What an engine knows of its own DDL. */
export type Drafting = {
  readonly engine: EngineName
  readonly madeBy: (migrations: readonly Migration[]) => Made
  readonly ddl: Ddl
  /** The statements that replace a function or a trigger. */
  readonly replace: (definition: Definition) => readonly string[]
  /** The statement that makes an object outside a transaction, where its table is in use; null: it may be made inside. */
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

const isCode = ({ text }: Definition) => /^create (function|trigger) /.test(text)

/** A text in the form that is compared: white space made equal, without `or replace`. */
const plain = (text: string) =>
  text
    .replace(/\s+/g, ' ')
    .replace(/^create (or replace )?/i, 'create ')
    .replace(/^create trigger/i, 'create trigger')

/** The statement that adds a column to a table that may have rows; throws where they could have no value in it. */
const addColumn = (
  ddl: Ddl,
  entities: Entities,
  [name, { table, appendOnly }]: [string, Entity],
  key: string,
  field: Field,
) => {
  if (!field.nullable && field.foldedFrom !== undefined && !appendOnly)
    throw new Error(
      `${name}.${key} cannot be added to rows that exist, which would have no copy: make it nullable, and duet migrate fills it from ${field.foldedFrom}`,
    )
  if (!field.nullable && !hasDefault(field))
    throw new Error(
      `${name}.${key} cannot be added to rows that exist, which would have no value: make it nullable, or give it an initial value`,
    )
  return `alter table ${table} add column ${columnDdl(ddl, entities, key, field)}`
}

/** What an object that is there lacks of its definition. */
const lackOfExisting = (drafting: Drafting, definition: Definition, existing: string): Lack => {
  if (isIndex(definition) && isUnique(existing) !== isUnique(definition.text))
    return drafting.replaceIndex(definition)
  const isOther = isCode(definition) && plain(existing) !== plain(definition.text)
  return { inside: isOther ? drafting.replace(definition) : [], outside: [] }
}

/** Drops the triggers that count by fields which are counted no longer: one that is counted again is then counted anew. */
const uncounted = (
  { dropTrigger }: Drafting,
  { table, fields, counted }: Entity,
  made: Made,
): readonly string[] =>
  Object.keys(fields).flatMap(key => {
    const name = `${table}_count_${columnName(key)}`
    return made.has(name) && !counted?.includes(key) ? dropTrigger(name, table) : []
  })

/** What these entities need and the migrations do not make, in an order in which it can be made. */
export const lackOf = (
  drafting: Drafting,
  entities: Entities,
  migrations: readonly Migration[],
): Lack => {
  const made = drafting.madeBy(migrations)
  const inside = Object.entries(entities).flatMap(entry => {
    const [, { table, fields }] = entry
    if (!made.has(table)) return []
    return Object.entries(fields)
      .filter(([key]) => !made.has(`${table}.${columnName(key)}`))
      .map(([key, field]) => addColumn(drafting.ddl, entities, entry, key, field))
  })
  const outside: string[] = []
  for (const definition of definitionsOf(drafting.ddl, entities)) {
    const { name, text, of, fill = [] } = definition
    const existing = made.get(name)
    const isInUse = of !== undefined && made.has(of)
    const concurrent = isInUse ? drafting.outside(definition) : null
    if (existing !== undefined) {
      const lack = lackOfExisting(drafting, definition, existing)
      inside.push(...lack.inside)
      outside.push(...lack.outside)
    } else if (concurrent !== null) outside.push(concurrent)
    else inside.push(text, ...(isInUse ? fill : []))
  }
  for (const entity of Object.values(entities)) inside.push(...uncounted(drafting, entity, made))
  return { inside, outside }
}

const numbered = (number: number, name: string) => `${String(number).padStart(4, '0')}-${name}`

const textOf = (statements: readonly string[]) => `${statements.join(';\n\n')};\n`

/** The migrations that make what is missing: none, one, or two where some of it must run outside a transaction. */
export const migrationsFor = (
  { inside, outside }: Lack,
  number: number,
  name: string,
): readonly Migration[] => {
  const first = inside.length === 0 ? [] : [{ name, text: textOf(inside) }]
  const last = inside.length === 0 ? name : `${name}-indexes`
  const second = outside.length === 0 ? [] : [{ name: last, text: outsideMark + textOf(outside) }]
  return [...first, ...second].map(({ name, text }, index) => ({
    name: numbered(number + index, name),
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
