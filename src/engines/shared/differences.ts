/** Compares what a store has with what its model needs: each difference in a sentence with its remedy. */
import {
  type Catalogue,
  checksIn,
  gistOf,
  plainFormula,
  type StoredColumn,
  type StoredTable,
  shapeOf,
  textsOf,
} from '#engines/shared/catalogue.ts'
import {
  columnDdl,
  type Ddl,
  type Definition,
  definitionsOf,
  formulaSql,
  valuesCheck,
} from '#engines/shared/schema.ts'
import type { Entity } from '#model/entity.ts'
import { machineTables } from '#model/faults/names.ts'
import { type Field, flag } from '#model/field.ts'
import { indexesOf } from '#model/indexes.ts'
import { columnName, type Entities, valuesName } from '#model/model.ts'
import { dependenciesFirst } from '#model/references.ts'
import { formerTables } from '#model/stored-file.ts'
import { and, comma, join, name as quotedName, type Sql, sql } from '#sql/sql.ts'

/** What a draft can change in a table that is there, beside adding what is missing; `name` is that of a column, an index or a trigger. */
export type TableChange = { readonly table: string; readonly name: string } & (
  | { readonly kind: 'nullable' | 'index' | 'trigger' | 'table' }
  /** An index, a function or a trigger that is missing, or has another text. */
  | { readonly kind: 'new' | 'other'; readonly definition: Definition }
  /** What statements mend; the last one reads all rows, beside all work, if it validates. */
  | { readonly kind: 'mended'; readonly statements: readonly string[] }
  | {
      readonly kind: 'required' | 'values' | 'reference' | 'compared'
      readonly field: Field
      /** The definition of the column, as it is to be. */
      readonly ddl: string
      /** Whether a check of its values is there, and whether a trigger keeps all rows as they are. */
      readonly isKept: boolean
      readonly isLocked: boolean
      /** Whether rows that were allowed may not be any more. */
      readonly isNarrower: boolean
    }
)

export type Difference = {
  readonly text: string
  /** Whether the store is served all the same. */
  readonly isServed?: boolean
  /** Whether a draft adds what is missing, or what it changes. */
  readonly isAdded?: boolean
  readonly change?: TableChange
  /** The rows that a migration to the model would break on, and what is wrong with them. */
  readonly broken?: { readonly table: string; readonly where: Sql; readonly fault: string }
}

const draft = 'run duet migrate --draft NAME, read what it writes, and start again'

/** The remedy for a table that no statement of its engine changes so. */
const anew = 'no statement changes that: export its rows, and import them into a new store'

/** The type of the column of a field, as catalogues have it. */
const typeOf = (ddl: Ddl, field: Field): string =>
  ddl.typeOf(field).replaceAll('"', '').toLowerCase()

/** The columns of a table that no field has. */
export const leftOver = ({ fields }: Entity, { columns }: StoredTable): readonly string[] => {
  const known = new Set(Object.keys(fields).map(columnName))
  return [...columns.keys()].filter(column => !known.has(column))
}

/** The column that a new field may be the new name of: left over, of its type, and not claimed by another field. */
export const formerName = (
  ddl: Ddl,
  entity: Entity,
  field: Field,
  stored: StoredTable,
): string | undefined => {
  if (field.renamed !== undefined) return undefined
  const claimed = Object.values(entity.fields).map(({ renamed }) => renamed && columnName(renamed))
  const all = leftOver(entity, stored)
  const isMean = (column: string) =>
    all.includes(`${column}_sum`) && all.includes(`${column}_count`)
  /** Whether the machine kept it: the words of a text, its composed copy, a mean, or the sum and the count of one. */
  const isKept = (column: string) => {
    const [, of = '', end] = /^(\w+)_(words|nfc|sum|count)$/.exec(column) ?? []
    if (end === 'sum' || end === 'count') return isMean(of)
    return end === undefined
      ? isMean(column) && field.kept === undefined
      : stored.columns.has(of) || claimed.includes(of)
  }
  return all.find(
    column =>
      stored.columns.get(column)?.type === typeOf(ddl, field) &&
      !claimed.includes(column) &&
      !isKept(column),
  )
}

/** Whether an object has a name that the machine gives to parts of tables: it has made it for an earlier model. */
export const isMadePart = (name: string): boolean =>
  /_(?:by|count|kept)_|_(?:append_only|no_update|no_delete)$|_search(?:_\w+)?$/.test(name)

const columnDifferences = function* (
  ddl: Ddl,
  entities: Entities,
  [of, entity]: readonly [string, Entity],
  [key, field]: readonly [string, Field],
  stored: StoredTable,
  there: StoredColumn,
): Generator<Difference> {
  const { table, view, appendOnly } = entity
  const { nullable, values, references } = field
  const name = columnName(key)
  const cell = quotedName(name)
  const kept = stored.checks.find(check => check.name === valuesName(name))
  const as = (
    kind: 'required' | 'values' | 'reference' | 'compared',
    isNarrower = false,
  ): TableChange => ({
    kind,
    table,
    name,
    field,
    ddl: columnDdl(ddl, entities, entity, key),
    isKept: kept !== undefined,
    isLocked: appendOnly,
    isNarrower,
  })
  const type = typeOf(ddl, field)
  // PostgreSQL shows no type of a view's column, and a draft has only the text that makes it.
  if (there.type !== '' && there.type.split(' ')[0] !== type.split(' ')[0])
    yield {
      text: `${of}.${key} is stored as ${type}, and its column is ${there.type}: take its former kind back, or add a field of this kind under another name, fill it and drop the old one, as docs/migrations.md shows`,
    }
  else if (there.type !== type && !view)
    yield {
      text: `${of}.${key} is stored as ${type}, and its column is ${there.type}, which sorts texts otherwise: ${draft}`,
      change: as('compared'),
    }
  if (view) return
  if (key === 'id')
    for (const { words, mend } of ddl.idParts) {
      if (there.text.includes(words)) continue
      const statements = mend?.(table)
      yield {
        text: `${of}.id is not ${words} in ${table}: ${statements ? draft : anew}`,
        ...(statements && { change: { kind: 'mended', table, name, statements } }),
      }
    }
  if (/\bon conflict\b/.test(there.text))
    yield {
      text: `${of}.${key} says on conflict in ${table}, so that what is refused may be left out in silence: ${anew}`,
    }
  const formula = formulaSql(entity.fields, field)
  if (plainFormula(there.formula) !== plainFormula(formula))
    yield {
      text: `${of}.${key} is ${formula === '' ? 'not computed' : `computed as ${formula}`} in the model, and ${there.formula === '' ? 'not' : `as ${there.formula}`} in the store: write a migration that drops its column, and ${draft}`,
    }
  if (there.isRequired && nullable)
    yield {
      text: `${of}.${key} may be null in the model, and its column may not: ${draft}, or take nullable back`,
      change: { kind: 'nullable', table, name },
    }
  if (!there.isRequired && !nullable)
    yield {
      text: `${of}.${key} is needed in the model, and its column may be null: ${draft}, or make it nullable`,
      change: as('required'),
      broken: { table, where: sql`${cell} is null`, fault: `without ${key}` },
    }
  const goes = (kept && textsOf(kept.text)) ?? []
  const wantedValues = textsOf(valuesCheck(name, field))
  // Of a check that names the same values and says something else, nobody knows which rows it took.
  const isLess =
    goes.length === wantedValues.length || goes.some(one => !wantedValues.includes(one))
  const [wantedCheck] = checksIn(valuesCheck(name, field))
  if (!values && kept && !entity.own.includes(kept.name))
    yield {
      text: `${of}.${key} takes any value in the model, and its column only some: ${draft}`,
      change: as('values'),
    }
  if (values && gistOf(kept?.text ?? '') !== gistOf(wantedCheck?.text ?? ''))
    yield {
      text: `${of}.${key} is one of ${values.join(', ')} in the model, and its column takes other values: ${draft}`,
      change: as('values', !kept || isLess),
      broken: {
        table,
        where: sql`${cell} is not null and ${cell} not in (${join(values, comma)})`,
        fault: `with a ${key} that is none of ${values.join(', ')}`,
      },
    }
  const target = entities[references?.entity ?? '']
  const wanted =
    references && target && !target.view
      ? `${target.table} on delete ${references.onDelete}`
      : 'nothing'
  const led = stored.references.filter(({ column }) => column === name)
  const found = led.map(one => `${one.table} on delete ${one.onDelete}`).join(' and ') || 'nothing'
  // Before 0.3 it was what a declaration meant that did not say it.
  const isOlder = target && references?.isUsual && found === `${target.table} on delete cascade`
  const say = isOlder
    ? `say onDelete: 'cascade' at ${key}, which was meant where nothing was said, if its rows shall go on going with the other one; else `
    : ''
  if (wanted !== found)
    yield {
      text: `${of}.${key} refers to ${wanted} in the model, and its column to ${found}: ${say}${draft}`,
      change: as('reference', target && !led.some(one => one.table === target.table)),
      ...(target && {
        broken: {
          table,
          where: sql`${cell} is not null and ${cell} not in (select id from ${quotedName(target.table)})`,
          fault: `with a ${key} that names no row of ${target.table}`,
        },
      }),
    }
}

const flawed = (table: string, { what, text, mend }: StoredTable['flaws'][number]): Difference => {
  if (mend?.startsWith('-- ')) return { text: `${table} ${text}: ${mend.slice(3)}` }
  return {
    text: `${table} ${text}: ${mend ? draft : anew}`,
    ...(mend && { change: { kind: 'mended', table, name: what, statements: [mend] } }),
  }
}

/** What is done to a table of the machine by hand. */
const machineDifferences = function* (
  table: string,
  { triggers, rules, flaws }: StoredTable,
): Generator<Difference> {
  const names = [
    ...triggers.map(({ name }) => `trigger ${name}`),
    ...rules.map(one => `rule ${one}`),
  ]
  for (const name of names)
    yield { text: `${table} has the ${name}, which Duet does not know: drop it in a migration` }
  // Counts of the moment may go with a crash.
  for (const flaw of flaws)
    if (flaw.mend && `${table} ${flaw.what}` !== 'rates unlogged') yield flawed(table, flaw)
}

const partDifferences = function* (
  ddl: Ddl,
  entities: Entities,
  [of, entity]: readonly [string, Entity],
  stored: StoredTable,
  all: ReadonlyMap<string, Definition>,
): Generator<Difference> {
  const { table, fields, own } = entity
  const definitions = [...all.values()].filter(one => one.of === table)
  const isOther = (text: string, name: string) =>
    shapeOf(text) !== shapeOf(all.get(name)?.text ?? '')
  for (const { name, terms, unique, of: purpose } of indexesOf(entity)) {
    const found = stored.indexes.find(one => one.name === name)
    const columns = terms.map(({ column }) => column)
    if (!unique || (found && !isOther(found.text, name))) continue
    const cells = columns.map(quotedName)
    const all = join(cells, comma)
    const filled = and(cells.map(cell => sql`${cell} is not null`))
    yield {
      isAdded: true,
      text: `${purpose} of ${of} is unique in the model, and not in ${table}: ${draft}`,
      broken: {
        table,
        where: sql`(${all}) in (select ${all} from ${quotedName(table)} where ${filled} group by ${all} having count(*) > 1)`,
        fault: `with the ${columns.join(' and ')} of another`,
      },
    }
  }
  const made = new Set(definitions.map(({ name }) => name))
  for (const { name, text } of definitions) {
    const [, kind] = /^create (trigger|index) /.exec(text) ?? []
    if (!kind) continue
    const trigger = stored.triggers.find(one => one.name === name)
    const found = kind === 'trigger' ? trigger : stored.indexes.find(one => one.name === name)
    const called = `${name}()`
    const callsOther = all.has(called) && isOther(trigger?.calls ?? '', called)
    if (found && !isOther(found.text, name) && !(kind === 'trigger' && callsOther)) continue
    const what = found ? `has another ${kind} ${name} than the model` : `lacks the ${kind} ${name}`
    yield { isServed: kind === 'index', isAdded: true, text: `${table} ${what}: ${draft}` }
  }
  const checks = Object.keys(fields).flatMap(key =>
    checksIn(columnDdl(ddl, entities, entity, key)).map(({ text }) => gistOf(text)),
  )
  const kept = [...stored.columns.keys()].map(valuesName)
  // That of a flag whose field is gone keeps no row out, and goes with its column.
  for (const column of stored.columns.keys())
    checks.push(...checksIn(ddl.checkOf(column, flag())).map(({ text }) => gistOf(text)))
  for (const [what, kind, names] of [
    ['trigger', 'trigger', stored.triggers.map(({ name }) => name)],
    ['rule', 'rule', stored.rules],
    ['constraint', 'constraint', stored.exclusions],
    ['unique index', 'index', stored.indexes.flatMap(one => (one.isUnique ? [one.name] : []))],
    [
      'check',
      'check',
      stored.checks.flatMap(({ name, text }) =>
        checks.includes(gistOf(text)) || kept.includes(name) ? [] : [name],
      ),
    ],
  ] as const)
    for (const name of names) {
      if (made.has(name) || own.includes(name)) continue
      const isOurs = (kind === 'trigger' || kind === 'index') && isMadePart(name)
      yield {
        text: `${table} has the ${what} ${name}, which ${of} does not know: ${isOurs ? draft : 'drop it in a migration'}, or list it in own: ['${name}']`,
        ...(isOurs && { change: { kind, table, name } }),
      }
    }
  for (const { what, text, mend } of stored.flaws) {
    const [kind = '', name = ''] = what.split(' ')
    if (own.includes(name) || (kind === 'trigger' && !made.has(name))) continue
    yield flawed(table, { what, text, mend })
  }
  for (const { name, isUnique } of stored.indexes) {
    if (isUnique || made.has(name)) continue
    const isSearch = /_search$/.test(name) && isMadePart(name) && !own.includes(name)
    yield {
      isServed: true,
      text: `the index ${name} of ${table}`,
      ...(isSearch && { change: { kind: 'index', table, name } }),
    }
  }
}

/** What a table is that no entity has; one whose references keep rows from being deleted says so. */
const surplus = (table: string, { isView, references }: StoredTable): string => {
  const kept = references.filter(({ onDelete }) => !/^(?:cascade|set)/.test(onDelete))
  const keeps = kept.length > 0 ? ` (which keeps rows of ${kept[0]?.table})` : ''
  return `the ${isView ? 'view' : 'table'} ${table}${keeps}`
}

/** The differences between a store and its model: those that stop the service, and what else the store has. */
export const differencesIn = (
  ddl: Ddl,
  entities: Entities,
  catalogue: Catalogue,
): readonly Difference[] => {
  const found: Difference[] = []
  const all = definitionsOf(ddl, entities)
  const byName = new Map(all.map(one => [one.name, one]))
  for (const [of, entity] of dependenciesFirst(entities)) {
    const { table, view, own } = entity
    const stored = catalogue.get(table)
    if (stored?.isView !== view) {
      const wrong = view
        ? `${of} says view: true, and ${table} is a table: leave it out`
        : `${of} is on ${table}, which is a view: say view: true`
      const missing = view
        ? `${of} is on a view, and no migration makes ${table}: write one that does`
        : `${of} is in the model, and no migration makes its table: ${draft}`
      found.push(stored ? { text: wrong } : { text: missing, isAdded: !view })
      continue
    }
    if (view && stored.columns.size === 0) continue
    for (const [key, field] of Object.entries(entity.fields)) {
      const there = stored.columns.get(columnName(key))
      const former = there ? undefined : formerName(ddl, entity, field, stored)
      const remedy = view ? `write one that makes the view ${table} with it` : draft
      const hint = former ? ` (if it is ${former} by another name, give it renamed)` : ''
      if (there)
        found.push(...columnDifferences(ddl, entities, [of, entity], [key, field], stored, there))
      else
        found.push({
          isAdded: !view,
          text: `${of}.${key} is in the model, and no migration makes its column: ${remedy}${hint}`,
        })
    }
    for (const name of leftOver(entity, stored)) {
      const { isRequired, hasValue } = stored.columns.get(name) ?? {}
      if (own.includes(name)) continue
      if (view || !isRequired || hasValue)
        found.push({ isServed: true, text: `the column ${name} of ${table}` })
      else {
        const isNow = (key: string) => columnName(entity.fields[key]?.renamed || '') === name
        const now = Object.keys(entity.fields).find(isNow)
        found.push({
          text: now
            ? `${table}.${name} is ${of}.${now} in the model: ${draft}`
            : `${table}.${name} has no field in ${of} and takes no row without a value: give renamed to the field that it is now, or ${draft}`,
          change: { kind: 'nullable', table, name },
        })
      }
    }
    if (!view) found.push(...partDifferences(ddl, entities, [of, entity], stored, byName))
  }
  const searches = all.filter(({ text }) => /^create virtual /.test(text))
  for (const { name, of, text } of searches) {
    const stored = catalogue.get(name)
    if (!stored) found.push({ isAdded: true, text: `${of} lacks the search ${name}: ${draft}` })
    else if (shapeOf(stored.text) !== shapeOf(text))
      found.push({
        isAdded: true,
        text: `${of} has another search ${name} than the model: ${draft}`,
      })
  }
  // One that is kept by no trigger any more would miss rows when it is used again.
  const unused = (table: string, text: string) =>
    /^create virtual /i.test(text) &&
    isMadePart(table) &&
    Object.values(entities).find(
      entity => table.startsWith(`${entity.table}_`) && !entity.own.includes(table),
    )?.table
  const known = new Set([
    ...machineTables,
    ...Object.values(entities).map(({ table }) => table),
    ...formerTables(entities),
  ])
  const dropped = [...catalogue].flatMap(([table, { text }]) => {
    const of = searches.some(({ name }) => name === table) ? false : unused(table, text)
    return of ? [[table, of] as const] : []
  })
  for (const [name, table] of dropped)
    found.push({
      isServed: true,
      text: `the search ${name} of ${table}`,
      change: { kind: 'table', table, name },
    })
  const ofSearch = [...searches.map(({ name }) => name), ...dropped.map(([name]) => name)]
  for (const [table, stored] of catalogue)
    if (machineTables.includes(table)) found.push(...machineDifferences(table, stored))
    else if (!known.has(table) && !/^sqlite_/.test(table))
      if (!ofSearch.some(name => table.startsWith(name)))
        found.push({ isServed: true, text: surplus(table, stored) })
  return found
}
