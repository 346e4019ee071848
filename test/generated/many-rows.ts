/** Boxes with items and labels, whose rules look at rows, and what writes of them should do, in plain code over rows in memory. */
import { type RowMemory, type StoredRow, satisfies } from '#kit/check/conditions.ts'
import { type Condition, viewer } from '#model/condition.ts'
import { entity, many, one } from '#model/entity.ts'
import { choice, count, flag, id, int, reference, revision, text } from '#model/field.ts'
import type { Entities } from '#model/model.ts'
import { anyone, signedIn } from '#model/policy.ts'
import { admin as adminOnly } from '../support/roles.ts'
import type { Cook } from './cooking.ts'
import { member } from './models.ts'

type Kind = 'box' | 'item' | 'label' | 'boxLabel' | 'pin'
type Operation = 'create' | 'update' | 'delete'
type Alternative = { readonly before: Condition; readonly after?: Condition }

const ofOwner = { box: { owner: viewer } } as const
const either = (...all: readonly Condition[]): readonly Alternative[] =>
  all.map(before => ({ before }))

/** Who sees what of the rows, whether signed in or not; and what rows the signed in may write. The admin, member 2, may do all. */
const rules: Readonly<
  Record<
    Kind,
    { readonly read: readonly Condition[] } & Partial<Record<Operation, readonly Alternative[]>>
  >
> = {
  box: {
    read: [{ open: true }, { owner: viewer }],
    create: either({ owner: viewer, size: { ne: 3 } }),
    update: [
      { before: { owner: viewer, size: { ne: 3 } }, after: { owner: viewer } },
      { before: { open: true, size: 0 }, after: { open: true, size: { lte: 1 } } },
    ],
    delete: either(
      { owner: viewer, items: { none: { rare: true } } },
      { above: { owner: viewer } },
    ),
  },
  item: {
    read: [{ rare: false }, ofOwner],
    create: either({ ...ofOwner, name: { ne: 'bad' } }),
    update: [{ before: { ...ofOwner, rare: false }, after: ofOwner }],
    delete: either({ ...ofOwner, not: { name: 'kept' } }),
  },
  label: { read: [{ closed: false }] },
  boxLabel: {
    read: [{}],
    create: either({ ...ofOwner, label: { slug: { ne: 'x' } } }),
    delete: either({ ...ofOwner, label: { slug: { ne: 'y' } } }),
  },
  pin: { read: [{ keeper: viewer }] },
}

const namesViewer = (condition: Condition) =>
  JSON.stringify(condition, (_, value) => (value === viewer ? '@' : value)).includes('@')

const policyOf = (kind: Kind) => {
  const { read, ...writes } = rules[kind]
  const words = Object.entries(writes).map(([operation, all]) => [
    operation,
    all.map(({ before, after }) => {
      const rule = signedIn.where(before)
      return after ? rule.becoming(after) : rule
    }),
  ])
  return {
    read: read.map(one => (namesViewer(one) ? signedIn : anyone).where(one)),
    ...Object.fromEntries(words),
  }
}

const common = { description: '' } as const
const listing = { paging: 'page', limit: 50 } as const
const rest = { list: true, one: true, listing } as const
const all = ['create', 'update', 'delete'] as const

export const entities = {
  member,
  box: entity({
    ...common,
    table: 'boxes',
    plural: 'boxes',
    fields: {
      id: id(),
      name: text({ max: 9, unique: 'CONFLICT' }),
      size: int({ min: 0, max: 9, nullable: true, initial: { value: 1 } }),
      open: flag({ initial: { value: 1 } }),
      state: choice(['new', 'used'], { initial: { value: 'new' }, resetBy: 'size' }),
      code: text({
        max: 9,
        nullable: true,
        initial: { value: null },
        readableBy: { owner: viewer },
      }),
      ownerId: reference('member', { initial: 'viewer', immutable: false }),
      aboveId: reference('box', {
        nullable: true,
        initial: { value: null },
        immutable: false,
        onDelete: 'set null',
      }),
      linkCount: count('links'),
      revision: revision(),
    },
    relations: {
      owner: one('member', 'ownerId'),
      above: one('box', 'aboveId'),
      items: many('item', 'boxId', { parts: true }),
      labels: many('label', { through: 'boxLabel', parts: true }),
      links: many('boxLabel', 'boxId'),
    },
    policy: policyOf('box'),
    bulk: true,
    rest: { ...rest, writes: all },
    graphql: { mutations: all, paged: true },
  } as never),
  item: entity({
    ...common,
    table: 'items',
    plural: 'items',
    fields: {
      id: id(),
      name: text({ max: 9 }),
      rare: flag({ initial: { value: 0 } }),
      boxId: reference('box', { onDelete: 'cascade', immutable: false }),
      revision: revision(),
    },
    relations: { box: one('box', 'boxId') },
    policy: policyOf('item'),
    bulk: true,
    rest,
    graphql: { mutations: all },
  } as never),
  label: entity({
    ...common,
    table: 'labels',
    plural: 'labels',
    fields: { id: id(), slug: text({ max: 9 }), closed: flag() },
    policy: { ...policyOf('label'), create: adminOnly },
    rest: { ...rest, writes: ['create'] },
  } as never),
  boxLabel: entity({
    ...common,
    table: 'box_labels',
    plural: 'boxLabels',
    fields: {
      id: id(),
      boxId: reference('box', { onDelete: 'cascade' }),
      labelId: reference('label', { onDelete: 'cascade' }),
    },
    relations: { box: one('box', 'boxId'), label: one('label', 'labelId') },
    policy: { ...policyOf('boxLabel'), read: anyone },
    rest: { ...rest, list: false },
    sets: [['boxId', 'labelId']],
  } as never),
  /** What keeps a box, and only its keeper sees. */
  pin: entity({
    ...common,
    table: 'pins',
    plural: 'pins',
    fields: {
      id: id(),
      boxId: reference('box', { onDelete: 'restrict' }),
      keeperId: reference('member', { initial: 'viewer' }),
    },
    relations: { box: one('box', 'boxId'), keeper: one('member', 'keeperId') },
    policy: { ...policyOf('pin'), create: [signedIn.where({ keeper: viewer })] },
    rest: { ...rest, writes: ['create'] },
  } as never),
} as unknown as Entities

/** A write is refused with this status. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number) {
    super(String(status))
    this.status = status
  }
}

type Tables = Readonly<Record<Kind, readonly StoredRow[]>>

export type Change = Readonly<Record<string, string | number | boolean | null>>

/** An input: the values of a box, and what is below it. */
export type Input = { readonly given: Change; readonly parts: Parts }
export type Parts = {
  readonly items?: {
    readonly create?: readonly Change[]
    readonly update?: readonly (Change & { readonly id: number })[]
    readonly delete?: readonly number[]
  }
  readonly labels?: {
    readonly set?: readonly number[]
    readonly add?: readonly number[]
    readonly remove?: readonly number[]
  }
}

/** The admin, who may do all. */
export const admin = 2

/**
 * The store in memory: each write either returns, or throws `Refused` and has changed nothing. `countsByStatement`: rows that are unlinked
 * at once raise the revision of the row that counts them once, as on PostgreSQL.
 */
export const createMemory = (countsByStatement: boolean) => {
  let tables: Tables = { box: [], item: [], label: [], boxLabel: [], pin: [] }
  const lastIds: Record<Kind, number> = { box: 0, item: 0, label: 0, boxLabel: 0, pin: 0 }
  const members = [1, 2, 3].map((id): StoredRow => ({ id, name: 'm', status: 'active' }))

  const memoryOf = (who: Cook, rows: Tables = tables): RowMemory => ({
    entities,
    rows: { ...rows, member: members },
    viewer: who,
    now: 0,
  })
  const fits = (who: Cook, kind: Kind, row: StoredRow, condition: Condition) =>
    (who !== null || !namesViewer(condition)) && satisfies(memoryOf(who), kind, row, condition)
  const sees = (who: Cook, kind: Kind, row: StoredRow) =>
    who === admin || rules[kind].read.some(one => fits(who, kind, row, one))
  const may = (who: Cook, operation: Operation, kind: Kind, row: StoredRow, made = row) =>
    who === admin ||
    (rules[kind][operation] ?? []).some(
      ({ before, after = before }) =>
        fits(who, kind, row, before) && (made === row || fits(who, kind, made, after)),
    )
  /** The rows that a caller sees and that fit a condition, which sees no others either. */
  const asked = (who: Cook, kind: Kind, where: Condition) => {
    const seen = Object.fromEntries(
      Object.entries(tables).map(([of, rows]) => [
        of,
        rows.filter(row => sees(who, of as Kind, row)),
      ]),
    ) as unknown as Tables
    return seen[kind].filter(row => satisfies(memoryOf(who, seen), kind, row, where))
  }

  const byId = (kind: Kind, id: unknown) => tables[kind].find(row => row.id === id)
  const put = (kind: Kind, row: StoredRow) => {
    const others = tables[kind].filter(({ id }) => id !== row.id)
    tables = { ...tables, [kind]: [...others, row].sort((a, b) => Number(a.id) - Number(b.id)) }
    lastIds[kind] = Math.max(lastIds[kind], Number(row.id))
  }
  const stored = (given: Change): StoredRow =>
    Object.fromEntries(
      Object.entries(given).map(([key, value]) => [
        key,
        typeof value === 'boolean' ? Number(value) : value,
      ]),
    )
  const references = { ownerId: 'member', aboveId: 'box', boxId: 'box', labelId: 'label' } as const
  /** Whether all is there that these values refer to; what a row names already may be hidden by now. */
  const isThere = (who: Cook, given: StoredRow, old: StoredRow = {}) =>
    Object.entries(given).every(([key, value]) => {
      const kind = references[key as keyof typeof references]
      if (!kind || value === null) return true
      if (kind === 'member') return Number(value) <= members.length
      const row = byId(kind, value)
      return row !== undefined && (sees(who, kind, row) || old[key] === value)
    })
  const isTaken = (row: StoredRow) =>
    tables.box.some(({ id, name }) => id !== row.id && name === row.name)
  const refuseUnless = (holds: boolean, status: number) => {
    if (!holds) throw new Refused(status)
  }

  const insert = (who: Cook, kind: Kind, row: StoredRow, given: StoredRow): number => {
    refuseUnless(isThere(who, given), 404)
    refuseUnless(may(who, 'create', kind, row), 403)
    refuseUnless(kind !== 'box' || !isTaken(row), 409)
    put(kind, row)
    return Number(row.id)
  }
  /** The row that a change of a box or an item makes of it. */
  const changed = (row: StoredRow, given: StoredRow): StoredRow => {
    const isReset = 'size' in given && given.size !== row.size && !('state' in given)
    return {
      ...row,
      ...given,
      ...(isReset && 'state' in row && { state: 'new' }),
      revision: Number(row.revision) + 1,
    }
  }
  const change = (who: Cook, kind: Kind, row: StoredRow, given: StoredRow, isRaised = false) => {
    refuseUnless(may(who, 'update', kind, row), 403)
    refuseUnless(isThere(who, given, row), 404)
    const isSame = Object.keys(given).length === 0 && !isRaised
    const made = isSame ? row : changed(row, given)
    refuseUnless(may(who, 'update', kind, row, made), 403)
    refuseUnless(kind !== 'box' || !isTaken(made), 409)
    put(kind, made)
  }
  const without = (kind: Kind, isGone: (row: StoredRow) => boolean) => {
    tables = { ...tables, [kind]: tables[kind].filter(row => !isGone(row)) }
  }
  /** Deletes boxes with what goes with them. */
  const drop = (ids: readonly unknown[]) => {
    const below = ({ boxId }: StoredRow) => ids.includes(boxId)
    refuseUnless(!tables.pin.some(below), 409)
    for (const row of tables.box)
      if (ids.includes(row.aboveId) && !ids.includes(row.id))
        put('box', { ...row, aboveId: null, revision: Number(row.revision) + 1 })
    without('item', below)
    without('boxLabel', below)
    without('box', ({ id }) => ids.includes(id))
  }

  /** The kept count of a box has changed. */
  const counted = (boxId: number) => {
    const row = byId('box', boxId) as StoredRow
    put('box', { ...row, revision: Number(row.revision) + 1 })
  }
  const link = (who: Cook, boxId: number, labelId: number, isNew: boolean) => {
    if (tables.boxLabel.some(row => row.boxId === boxId && row.labelId === labelId)) return
    const row = { id: lastIds.boxLabel + 1, boxId, labelId }
    insert(who, 'boxLabel', row, isNew ? { labelId } : { boxId, labelId })
    counted(boxId)
  }
  const unlink = (who: Cook, boxId: number, isGone: (labelId: number) => boolean) => {
    const gone = tables.boxLabel.filter(row => row.boxId === boxId && isGone(Number(row.labelId)))
    refuseUnless(
      gone.every(row => may(who, 'delete', 'boxLabel', row)),
      403,
    )
    without('boxLabel', row => gone.includes(row))
    const raises = countsByStatement ? gone.slice(0, 1) : gone
    for (const _ of raises) counted(boxId)
  }
  const applyParts = (who: Cook, boxId: number, { items = {}, labels }: Parts, isNew: boolean) => {
    const itemOf = (id: number) => {
      const row = byId('item', id)
      if (!row || row.boxId !== boxId || !sees(who, 'item', row)) throw new Refused(404)
      return row
    }
    for (const id of items.delete ?? []) {
      const row = itemOf(id)
      refuseUnless(may(who, 'delete', 'item', row), 403)
      without('item', one => one.id === id)
    }
    for (const { id, ...given } of items.update ?? [])
      change(who, 'item', itemOf(Number(id)), stored(given as Change))
    for (const given of items.create ?? []) {
      const row = { id: lastIds.item + 1, rare: 0, ...stored(given), boxId, revision: 1 }
      insert(who, 'item', row, isNew ? {} : { boxId })
    }
    if (!labels) return
    const { set, add = set, remove } = labels
    if (remove) unlink(who, boxId, id => remove.includes(id))
    if (set && !isNew) unlink(who, boxId, id => !set.includes(id))
    for (const id of new Set(add)) link(who, boxId, id, isNew)
  }

  /** Does it whole, or not at all. */
  const atOnce = <Result>(isDry: boolean, work: () => Result): Result => {
    const before = tables
    const ids = { ...lastIds }
    let isDone = false
    try {
      const result = work()
      isDone = !isDry
      return result
    } finally {
      if (!isDone) {
        tables = before
        Object.assign(lastIds, ids)
      }
    }
  }
  const create = (who: Cook, { given, parts }: Input): number => {
    const row = {
      id: lastIds.box + 1,
      size: 1,
      open: 1,
      state: 'new',
      code: null,
      ownerId: who,
      aboveId: null,
      ...stored(given),
      revision: 1,
    }
    const made = insert(who, 'box', row, { ...stored(given), ownerId: row.ownerId })
    applyParts(who, made, parts, true)
    return made
  }
  const signedInOnly = (who: Cook) => refuseUnless(who !== null, 401)
  const looksAtCode = (where: Condition) => JSON.stringify(where).includes('"code"')
  const rowsFor = (who: Cook, kind: 'box' | 'item', where: Condition, isAll: boolean) => {
    signedInOnly(who)
    refuseUnless(!looksAtCode(where) || who === admin, 403)
    refuseUnless(isAll || Object.keys(where).length > 0, 422)
    return asked(who, kind, where)
  }
  const idsOf = (rows: readonly StoredRow[]) => rows.map(({ id }) => Number(id))
  return {
    tables: () => tables,
    last: lastIds,
    /** Puts a row there as the content's own service would. */
    add: (kind: Kind, row: StoredRow) => put(kind, { id: lastIds[kind] + 1, ...row }),
    createMany: (who: Cook, rows: readonly Input[]) =>
      atOnce(false, () => {
        signedInOnly(who)
        return rows.map(row => create(who, row))
      }),
    updateOne: (who: Cook, id: number, { given, parts }: Input) =>
      atOnce(false, () => {
        signedInOnly(who)
        const row = byId('box', id)
        if (!row || !sees(who, 'box', row)) throw new Refused(404)
        const { items = {}, labels = {} } = parts
        const isRaised =
          Object.values(items).some(({ length }) => length > 0) || Object.keys(labels).length > 0
        change(who, 'box', row, stored(given), isRaised)
        applyParts(who, id, parts, false)
        return id
      }),
    updateMany: (
      who: Cook,
      kind: 'box' | 'item',
      where: Condition,
      given: Change,
      { all = false, dryRun = false },
    ) =>
      atOnce(dryRun, () => {
        const rows = rowsFor(who, kind, where, all)
        const values = stored(given)
        const made = rows.map(row => {
          refuseUnless(may(who, 'update', kind, row), 403)
          refuseUnless(isThere(who, values, row), 404)
          const after = Object.keys(values).length === 0 ? row : changed(row, values)
          refuseUnless(may(who, 'update', kind, row, after), 403)
          return after
        })
        for (const row of made) put(kind, row)
        if (kind === 'box') refuseUnless(!made.some(isTaken), 409)
        return idsOf(rows)
      }),
    deleteMany: (
      who: Cook,
      kind: 'box' | 'item',
      where: Condition,
      { all = false, dryRun = false },
    ) =>
      atOnce(dryRun, () => {
        const rows = rowsFor(who, kind, where, all)
        refuseUnless(
          rows.every(row => may(who, 'delete', kind, row)),
          403,
        )
        if (kind === 'box') drop(idsOf(rows))
        else without('item', row => rows.includes(row))
        return idsOf(rows)
      }),
  }
}
