/** better-auth's models in Duet's own store: `user` is the row of a person, by commands; each call on another is one statement, which Duet's writer runs. So it holds on SQLite with its one writer, its threads and its lock, and on PostgreSQL. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type CleanedWhere, type CustomAdapter, createAdapterFactory } from 'better-auth/adapters'
import { APIError } from 'better-auth/api'
import { columnName } from '#model/names.ts'
import { parseId } from '#model/values.ts'
import { blockedError, isForNobody } from '#people/hooks.ts'
import type { Person, PersonInput, PersonRequest, Told } from '#people/messages.ts'
import type { Rows } from '#sql/engine.ts'
import { comma, join, name, number, type Sql, type SqlValue, sql, trusted } from '#sql/sql.ts'

export type AdapterStore = {
  /** Reads what was committed before, by whichever process. */
  readonly ask: (piece: Sql) => Promise<Rows>
  /** Runs one statement as a write of its own, and gives its rows. */
  readonly write: (piece: Sql) => Promise<Rows>
  /** Finds, makes and changes rows of people. */
  readonly person: (request: PersonRequest) => Promise<Person | null>
}

/** The rows of people as this request saw them first. */
export const seen = new AsyncLocalStorage<Map<string, Pick<Person, 'revision' | 'blocked'>>>()

const signs: Record<string, string> = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' }

/** A value as the store keeps it: times in milliseconds, flags as 0 and 1. */
const stored = (value: unknown): SqlValue => {
  if (value instanceof Date) return value.getTime()
  return typeof value === 'boolean' ? Number(value) : ((value ?? null) as SqlValue)
}

/** A row of a person as better-auth has a user. */
const userOf = (person: Person | null) => {
  if (person === null) return null
  const rows = seen.getStore()
  if (rows && !rows.has(person.id)) rows.set(person.id, person)
  const createdAt = new Date(person.createdAt)
  return { ...person, createdAt, updatedAt: createdAt, image: null }
}

/** The one row that conditions on a user name: by id or by address, and by nothing else. */
const whoOf = (where: readonly CleanedWhere[]): { id?: string; email?: string } => {
  const [one, ...others] = where
  if (
    !one ||
    others.length > 0 ||
    (one.operator ?? 'eq') !== 'eq' ||
    !/^(id|email)$/.test(one.field)
  )
    throw new Error(
      `people are found by id or address, not by ${where.map(({ field, operator }) => `${field} ${operator}`)}`,
    )
  return { [one.field]: String(one.value) }
}

const usersOf = (person: AdapterStore['person']) => {
  const run = async (request: PersonRequest) => {
    try {
      return userOf(await person(request))
    } catch (error) {
      const { status = 500, code = 'FAILED', message } = error as Partial<Told>
      if (typeof status !== 'number' || status >= 500) throw error
      // Somebody was first, or the row was changed while its address was proved.
      throw new APIError(status as 409, { code, message: String(message) })
    }
  }
  const find = async (where: readonly CleanedWhere[]) =>
    isForNobody() && 'email' in whoOf(where) ? null : run({ does: 'find', ...whoOf(where) })
  return {
    find,
    create: (given: PersonInput) => run({ does: 'create', given }),
    update: async (where: readonly CleanedWhere[], update: PersonInput) => {
      const id: string | undefined = whoOf(where).id ?? (await find(where))?.id
      if (id === undefined) return null
      const first = seen.getStore()?.get(id)
      if (first?.blocked) throw blockedError()
      const revision = update.emailVerified ? first?.revision : undefined
      return run({ does: 'update', id, given: update, revision })
    },
  }
}

type Factory = Parameters<typeof createAdapterFactory>[0]['adapter']

/** The library's models in SQL: columns, values and conditions, and rows as the library has them. */
const tablesOf = ({ schema, getDefaultModelName }: Parameters<Factory>[0]) => {
  const fieldsOf = (model: string) => schema[getDefaultModelName(model)]?.fields ?? {}
  const keysOf = (model: string) => [
    'id',
    ...Object.keys(fieldsOf(model)).filter(key => key !== 'id'),
  ]
  const columnOf = (key: string) => name(columnName(key.replace('ID', 'Id')))
  const columnsOf = (model: string) => join(keysOf(model).map(columnOf), comma)
  /** What is done to people goes by commands alone. */
  const tableOf = (model: string) => {
    if (model !== 'user') return name(model)
    throw new Error('a person is changed by id, one at a time, and deleted by the content alone')
  }
  const isUsers = (model: string, key: string) => fieldsOf(model)[key]?.references?.model === 'user'
  /** Ids of people are texts there, and numbers here. */
  const storedAs = (model: string, key: string, value: unknown): SqlValue =>
    isUsers(model, key) && typeof value === 'string' ? (parseId(value) ?? -1) : stored(value)

  /** A row as the library has it, which knows its type. */
  const rowOf = (model: string, row: Rows[number] | undefined) => {
    if (row === undefined) return null
    const fields = fieldsOf(model)
    const said = (key: string, value: SqlValue) => {
      const type = fields[key]?.type
      if (value === null) return null
      if (isUsers(model, key)) return String(value)
      if (type === 'date') return new Date(Number(value))
      if (type === 'boolean') return Number(value) === 1
      return type === 'number' ? Number(value) : value
    }
    return Object.fromEntries(
      keysOf(model).map((key, at) => [key, said(key, row[at] ?? null)]),
    ) as never
  }

  const comparisonIn =
    (model: string) =>
    ({ field, operator, value, mode }: CleanedWhere): Sql => {
      if (mode === 'insensitive') throw new Error('the store compares letters as they are')
      const cell = columnOf(field)
      if (operator === 'in') {
        const all = [value].flat().map(one => storedAs(model, field, one))
        return sql`${cell} in (${join(all, comma)})`
      }
      const sign = signs[operator ?? 'eq']
      if (sign === undefined) throw new Error(`the store has no ${operator}`)
      if (value === null) return operator === 'eq' ? sql`${cell} is null` : sql`${cell} is not null`
      return sql`${cell} ${trusted(sign)} ${storedAs(model, field, value)}`
    }

  /** As better-auth's own adapters have it: all of the AND group, and any of the OR group. */
  const condition = (model: string, where: readonly CleanedWhere[] = []): Sql => {
    const comparison = comparisonIn(model)
    const either = where.filter(one => one.connector === 'OR').map(comparison)
    const all = where.filter(one => one.connector !== 'OR').map(comparison)
    if (either.length > 0) all.push(sql`(${join(either, sql` or `)})`)
    return all.length === 0 ? sql`true` : join(all, sql` and `)
  }
  const assignments = (model: string, update: object) =>
    Object.entries(update).map(
      ([key, value]) => sql`${columnOf(key)} = ${storedAs(model, key, value)}`,
    )
  const one = (model: string, where: readonly CleanedWhere[]) =>
    sql`id in (select id from ${tableOf(model)} where ${condition(model, where)} limit 1) and ${condition(model, where)}`
  return { tableOf, columnOf, columnsOf, storedAs, rowOf, condition, assignments, one }
}

/** The adapter over a store, for better-auth's option `database`. */
export const storeAdapter = (store: AdapterStore) => {
  const users = usersOf(store.person)
  return createAdapterFactory({
    config: {
      adapterId: 'duet',
      supportsDates: true,
      supportsBooleans: true,
      supportsJSON: false,
      // Each flow is a chain of guarded single statements: one that is cut off leaves an unused code, or a person without a session.
      transaction: false,
    },
    adapter: given => {
      const { tableOf, columnOf, columnsOf, storedAs, rowOf, condition, assignments, one } =
        tablesOf(given)
      const remove = (model: string, where: Sql, columns = sql`id`) =>
        store.write(sql`delete from ${tableOf(model)} where ${where} returning ${columns}`)
      const change = (model: string, set: readonly Sql[], where: Sql) =>
        store.write(
          sql`update ${tableOf(model)} set ${join(set, comma)} where ${where} returning ${columnsOf(model)}`,
        )

      return {
        create: async ({ model, data }) => {
          if (model === 'user') return (await users.create(data)) as never
          const keys = Object.keys(data)
          const values = keys.map(key => storedAs(model, key, data[key]))
          const [row] =
            await store.write(sql`insert into ${tableOf(model)} (${join(keys.map(columnOf), comma)})
            values (${join(values, comma)}) returning ${columnsOf(model)}`)
          return rowOf(model, row) as never
        },
        update: async ({ model, where, update }) => {
          if (model === 'user') return (await users.update(where, update as PersonInput)) as never
          const [row] = await change(model, assignments(model, update as object), one(model, where))
          return rowOf(model, row)
        },
        updateMany: async ({ model, where, update }) =>
          (await change(model, assignments(model, update), condition(model, where))).length,
        findOne: async ({ model, where }) => {
          if (model === 'user') return (await users.find(where)) as never
          const [row] = await store.ask(
            sql`select ${columnsOf(model)} from ${tableOf(model)} where ${condition(model, where)} limit 1`,
          )
          return rowOf(model, row)
        },
        findMany: async ({ model, where = [], limit, sortBy, offset = 0 }) => {
          if (model === 'user') return [await users.find(where)].filter(Boolean) as never
          const order = sortBy
            ? sql` order by ${columnOf(sortBy.field)} ${trusted(sortBy.direction === 'desc' ? 'desc' : 'asc')}`
            : sql``
          const rows = await store.ask(
            sql`select ${columnsOf(model)} from ${tableOf(model)} where ${condition(model, where)}${order} limit ${number(limit)} offset ${number(offset)}`,
          )
          return rows.map(row => rowOf(model, row)) as never
        },
        count: async ({ model, where }) => {
          const [row] = await store.ask(
            sql`select count(*) from ${tableOf(model)} where ${condition(model, where)}`,
          )
          return Number(row?.[0] ?? 0)
        },
        delete: async ({ model, where }) => {
          await remove(model, condition(model, where))
        },
        deleteMany: async ({ model, where }) =>
          (await remove(model, condition(model, where))).length,
        // What may happen once happens in one statement, whatever other processes do.
        consumeOne: async ({ model, where }) => {
          const [row] = await remove(model, one(model, where), columnsOf(model))
          return rowOf(model, row)
        },
        incrementOne: async ({ model, where, increment, set = {} }) => {
          const steps = Object.entries(increment).map(
            ([key, by]) => sql`${columnOf(key)} = ${columnOf(key)} + ${by}`,
          )
          const all = [...steps, ...assignments(model, set)]
          const [row] = await change(model, all, one(model, where))
          return rowOf(model, row)
        },
      } satisfies CustomAdapter
    },
  })
}
