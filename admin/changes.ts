/** What a form changes of a row, as a request; and what two people changed, put together. */
import {
  type Entity,
  entityNamed,
  type Field,
  isNumber,
  type Model,
  type Relation,
  type Row,
} from './model.ts'

export type Mode = 'create' | 'update'
export type Side = 'mine' | 'theirs'
export type Member = { name: string; label: string; kind: string; to?: string; by?: string }

export const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

/** Whether somebody wrote to a row since it was shown, or it is gone; what is counted of other rows is no matter. */
export const isOther = ({ fields }: Entity, shown: Row, now: Row | undefined): boolean =>
  now === undefined ||
  fields.some(
    ({ name, set, kind }) =>
      name in shown && !(set === 'never' && isNumber({ kind })) && !same(shown[name], now[name]),
  )

/** Whether a new row says nothing of a field, which then has what it begins with: it is so, or empty. One that begins with a value and was emptied says so. */
const isLeft = (value: unknown, { nullable, initial, required }: Partial<Field> = {}) =>
  value === undefined ||
  (!required && same(value, initial)) ||
  ((value === null || value === '') && !(nullable && initial !== undefined))

/** A value of a form as the service takes it. */
const givenOf = (value: unknown, { nullable }: Partial<Field> = {}) =>
  value === '' && nullable ? null : value

/** The nested rows in a member of a row. */
export const rowsIn = (value: unknown): Partial<Row>[] =>
  Array.isArray(value) ? (value as Partial<Row>[]) : []

/** The ids of linked rows in a member of a row. */
const idsIn = (value: unknown): number[] => (Array.isArray(value) ? (value as number[]) : [])

/** A list as changes of another: only words that have something to say. */
const said = (words: Record<string, unknown[]>): Record<string, unknown[]> =>
  Object.fromEntries(Object.entries(words).filter(([, of]) => of.length > 0))

const linksOf = (ids: number[], before: number[], mode: Mode) =>
  mode === 'create'
    ? said({ set: ids })
    : said({
        add: ids.filter(id => !before.includes(id)),
        remove: before.filter(id => !ids.includes(id)),
      })

const nestedOf = (
  rows: Partial<Row>[],
  before: Partial<Row>[],
  { by, sets = [] }: Relation,
  fields: Field[] = [],
) => {
  const fieldOf = (key: string) => fields.find(({ name }) => name === key)
  const membersIn = (row: Partial<Row>, isGiven: (key: string, value: unknown) => boolean) =>
    Object.entries(row).flatMap(([key, value]) =>
      isGiven(key, value) ? [[key, givenOf(value, fieldOf(key))] as const] : [],
    )
  const isThere = ({ id }: Partial<Row>) => before.some(row => row.id === id)
  const changed = (row: Partial<Row>, old: Partial<Row>) =>
    membersIn(row, (key, value) => key !== '_links' && !same(value, old[key]))
  const given = (row: Partial<Row>) =>
    Object.fromEntries(
      membersIn(
        row,
        (key, value) => key !== by && sets.includes(key) && !isLeft(value, fieldOf(key)),
      ),
    )
  return said({
    // One that others deleted is made again for who chose to keep it.
    create: rows.filter(row => row.id === undefined || !isThere(row)).map(given),
    update: rows.flatMap(row => {
      const old = before.find(({ id }) => id === row.id)
      const members = old ? changed(row, old) : []
      return members.length > 0 ? [{ id: row.id, ...Object.fromEntries(members) }] : []
    }),
    delete: before.flatMap(({ id }) => (rows.some(row => row.id === id) ? [] : [id])),
  })
}

/** The members that differ from the base, and what is said of nested rows and links. */
export const changesOf = (
  model: Model,
  entity: Entity,
  base: Partial<Row>,
  mine: Partial<Row>,
  mode: Mode,
): Record<string, unknown> => {
  const changes: Record<string, unknown> = {}
  for (const field of entity.fields) {
    const { name, set } = field
    if (set === 'never' || (set === 'create' && mode === 'update')) continue
    const value = mine[name]
    if (mode === 'create' ? !isLeft(value, field) : !same(value, base[name]))
      changes[name] = givenOf(value, field)
  }
  for (const relation of entity.relations) {
    const { name, kind, may } = relation
    if ((may?.[mode] ?? []).length === 0 || mine[name] === undefined) continue
    const written =
      kind === 'links'
        ? linksOf(idsIn(mine[name]), idsIn(base[name]), mode)
        : nestedOf(
            rowsIn(mine[name]),
            rowsIn(base[name]),
            relation,
            entityNamed(model, relation.to)?.fields,
          )
    if (Object.keys(written).length > 0) changes[name] = written
  }
  return changes
}

/** A place in the form for a fault: nested rows are named by their place among those that are made or changed. */
export const placeOf = (path: string, mine: Partial<Row>, base: Partial<Row>): string => {
  const [name = '', word, at, ...rest] = path.split('.')
  if (!Array.isArray(mine[name]) || (word !== 'create' && word !== 'update')) return path
  const among = rowsIn(mine[name]).flatMap((row, index) => {
    const old = rowsIn(base[name]).find(({ id }) => id === row.id)
    const isNew = row.id === undefined || !old
    return (word === 'create' ? isNew : !isNew && !same(row, old)) ? [index] : []
  })
  return [name, among[Number(at)] ?? 0, ...rest].join('.')
}

/** What somebody may change of a row. */
export const membersOf = (entity: Entity): Member[] => [
  ...entity.fields.filter(({ set }) => set === 'always'),
  ...entity.relations.filter(({ kind }) => kind === 'nested' || kind === 'links'),
]

/** The nested rows of both sides; undefined where both changed one of them. */
const partsOf = (base: Partial<Row>[], mine: Partial<Row>[], theirs: Partial<Row>[]) => {
  const find = (rows: Partial<Row>[], id: unknown) => rows.find(row => row.id === id)
  const isMine = (row: Partial<Row>) => !same(find(mine, row.id), row)
  const isOpen = ({ id }: Partial<Row>) => !same(find(mine, id), find(theirs, id))
  if (base.some(row => isMine(row) && !same(find(theirs, row.id), row) && isOpen(row)))
    return undefined
  const kept = theirs.flatMap(row => {
    const old = find(base, row.id)
    return old && isMine(old) ? (find(mine, row.id) ?? []) : row
  })
  return [...kept, ...mine.filter(({ id }) => id === undefined)]
}

/** What two sides made of a member of a row, put together; undefined where both changed the same to something else. */
const together = (kind: string, base: unknown, mine: unknown, theirs: unknown) => {
  if (same(mine, base) || same(mine, theirs)) return { value: theirs }
  if (same(theirs, base)) return { value: mine }
  if (kind === 'nested') {
    const value = partsOf(rowsIn(base), rowsIn(mine), rowsIn(theirs))
    return value && { value }
  }
  if (kind !== 'links') return undefined
  const [before, own, others] = [idsIn(base), idsIn(mine), idsIn(theirs)]
  const kept = others.filter(id => own.includes(id) || !before.includes(id))
  return { value: [...new Set([...kept, ...own.filter(id => !before.includes(id))])] }
}

/** What both sides changed, each to something else. */
export const conflictsOf = (
  entity: Entity,
  base: Partial<Row>,
  mine: Partial<Row>,
  theirs: Partial<Row>,
): Member[] =>
  membersOf(entity).filter(
    ({ name, kind }) => !together(kind, base[name], mine[name], theirs[name]),
  )

/** What both sides changed, put together; of what they changed to something else, mine where I chose it. */
export const merged = (
  entity: Entity,
  base: Partial<Row>,
  mine: Partial<Row>,
  theirs: Row,
  chosen: Record<string, Side> = {},
): Row => {
  const result = { ...theirs }
  for (const { name, kind } of membersOf(entity)) {
    const both = together(kind, base[name], mine[name], theirs[name])
    result[name] = both ? both.value : (chosen[name] === 'mine' ? mine : theirs)[name]
  }
  return result
}

/** How often a save is tried whose row others keep changing. */
const mostTries = 5

/** What came of a save: the row, with the labels of what others changed meanwhile; their row, if both changed the same; or an error, and what it is about. */
export type Saved =
  | { kind: 'saved'; row: Row; theirs: string[] }
  | { kind: 'clash'; theirs: Row }
  | { kind: 'failed'; error: unknown; mine: Partial<Row>; base: Row }

/** Saves what a form changes of a row. What others changed of the rest meanwhile is kept; what both changed is not saved. */
export const saveOver = async (
  entity: Entity,
  base: Row,
  mine: Partial<Row>,
  write: (base: Row, mine: Partial<Row>) => Promise<Row>,
  read: () => Promise<Row>,
): Promise<Saved> => {
  let under = base
  let values = mine
  for (let tries = 1; ; tries++)
    try {
      const row = await write(under, values)
      const others = membersOf(entity).filter(({ name }) => !same(base[name], under[name]))
      return { kind: 'saved', row, theirs: others.map(({ label }) => label) }
    } catch (error) {
      const isOutdated = (error as { status?: number }).status === 412
      if (!isOutdated || tries === mostTries)
        return { kind: 'failed', error, mine: values, base: under }
      try {
        under = await read()
      } catch (unread) {
        return { kind: 'failed', error: unread, mine: values, base: under }
      }
      if (conflictsOf(entity, base, mine, under).length > 0) return { kind: 'clash', theirs: under }
      values = merged(entity, base, mine, under)
    }
}
