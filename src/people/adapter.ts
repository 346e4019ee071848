/** better-auth's models in Duet's own store: `user` is the row of a person, by commands; each call on another is one statement, which Duet's writer runs. So it holds on SQLite with its one writer, its threads and its lock, and on PostgreSQL. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type CleanedWhere, type CustomAdapter, createAdapterFactory } from 'better-auth/adapters'
import { APIError } from 'better-auth/api'
import type { Remote } from '#base/calls.ts'
import { columnName } from '#model/names.ts'
import { isStorable, parseId } from '#model/values.ts'
import { blockedError, isForNobody } from '#people/hooks.ts'
import type { Person, PersonInput, PersonKey } from '#people/messages.ts'
import type { PersonRows } from '#people/rows.ts'
import type { Rows } from '#sql/engine.ts'
import { and, comma, join, name, number, type Sql, type SqlValue, sql, trusted } from '#sql/sql.ts'

export type AdapterStore = {
  /** Reads what was committed before, by whichever process. */
  readonly read: (piece: Sql) => Promise<Rows>
  /** Runs one statement as a write of its own, and gives its rows. */
  readonly write: (piece: Sql) => Promise<Rows>
  readonly rows: Remote<PersonRows>
}

/** The rows of people as this request saw them first. */
export const seen = new AsyncLocalStorage<Map<string, Pick<Person, 'revision' | 'blocked'>>>()

const signs: Record<string, string> = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' }

/** The one row that conditions on a user name: by id or by address, and by nothing else. */
const whoOf = (where: readonly CleanedWhere[]): PersonKey => {
  const [one, ...others] = where
  if (one && others.length === 0 && one.operator === 'eq' && /^(id|email)$/.test(one.field))
    return { [one.field]: String(one.value) }
  throw new Error(
    `people are found by id or address, not by ${where.map(({ field, operator }) => `${field} ${operator}`)}`,
  )
}

/** What the store gives, or its refusal as one of the library: somebody was first, or it has too much to do. */
const told = <Given>(asked: Promise<Given>): Promise<Given> =>
  asked.catch(error => {
    const { status, code, message } = error
    throw status ? new APIError(status, { code, message }) : error
  })

/** A row of a person as better-auth has a user. */
const userOf = async (asked: Promise<Person | null>) => {
  const person = await told(asked)
  if (person === null) return null
  const rows = seen.getStore()
  if (rows && !rows.has(person.id)) rows.set(person.id, person)
  const createdAt = new Date(person.createdAt)
  return { ...person, createdAt, updatedAt: createdAt, image: null }
}

const usersOf = (rows: AdapterStore['rows']) => {
  const find = async (where: readonly CleanedWhere[]) => {
    const who = whoOf(where)
    return isForNobody() && who.email !== undefined ? null : userOf(rows.find(who))
  }
  return {
    find,
    create: (given: PersonInput) => userOf(rows.create(given)),
    update: async (where: readonly CleanedWhere[], update: PersonInput) => {
      const id = whoOf(where).id ?? (await find(where))?.id
      if (id === undefined) return null
      const first = seen.getStore()?.get(id)
      if (first?.blocked) throw blockedError()
      return userOf(rows.update(id, update, update.emailVerified ? first?.revision : undefined))
    },
  }
}

type Factory = Parameters<typeof createAdapterFactory>[0]['adapter']

/** The library's models in SQL: columns, values and conditions, and rows as the library has them. */
const tablesOf = ({ schema, getDefaultModelName }: Parameters<Factory>[0]) => {
  const keysOf = (model: string) => {
    return [...new Set(['id', ...Object.keys(schema[getDefaultModelName(model)]?.fields ?? {})])]
  }
  const columnOf = (key: string) => name(columnName(key.replace('ID', 'Id')))
  const columnsOf = (model: string) => join(keysOf(model).map(columnOf), comma)
  /** What is done to people goes by commands alone. */
  const tableOf = (model: string) => {
    if (model !== 'user') return name(model)
    throw new Error('a person is changed by id, one at a time, and deleted by the content alone')
  }
  const rowOf = (model: string, row: Rows[number] | undefined) =>
    (row && Object.fromEntries(keysOf(model).map((key, at) => [key, row[at]]))) ?? null

  const comparison = ({ field, operator, value, connector, mode }: CleanedWhere): Sql => {
    const cell = columnOf(field)
    if (operator === 'in') return sql`${cell} in (${join([value].flat() as SqlValue[], comma)})`
    const sign = signs[operator ?? 'eq']
    if (sign === undefined || connector === 'OR' || mode === 'insensitive')
      throw new Error(`the store has no ${mode} ${connector} ${operator}`)
    // What no engine can hold, such as NUL, is in no row.
    if (typeof value === 'string' && !isStorable(value)) return sql`1 = 0`
    if (value === null) return operator === 'eq' ? sql`${cell} is null` : sql`${cell} is not null`
    return sql`${cell} ${trusted(sign)} ${value as SqlValue}`
  }
  const condition = (where: readonly CleanedWhere[] = []): Sql => and(where.map(comparison))
  const assignments = (update: object) =>
    Object.entries(update).map(([key, value]) => sql`${columnOf(key)} = ${value}`)
  const one = (model: string, where: readonly CleanedWhere[]) =>
    sql`id in (select id from ${tableOf(model)} where ${condition(where)} limit 1) and ${condition(where)}`
  return { tableOf, columnOf, columnsOf, rowOf, condition, assignments, one }
}

/** The adapter over a store, for better-auth's option `database`. */
export const storeAdapter = (store: AdapterStore) => {
  const users = usersOf(store.rows)
  const read = (piece: Sql) => told(store.read(piece))
  const write = (piece: Sql) => told(store.write(piece))
  return createAdapterFactory({
    config: {
      adapterId: 'duet',
      supportsJSON: false,
      // Each flow is a chain of guarded single statements: one that is cut off leaves an unused code, or a person without a session.
      transaction: false,
      // Ids of people are texts there and numbers here; times are milliseconds here, which a driver may give as a bigint, as it may counts.
      customTransformInput: ({ data, fieldAttributes: { references } }) => {
        if (references?.model === 'user' && typeof data === 'string') return parseId(data) ?? -1
        return data instanceof Date ? data.getTime() : data
      },
      customTransformOutput: ({ data, fieldAttributes: { type } }) => {
        if (data == null) return data
        if (type === 'date') return new Date(Number(data))
        return type === 'number' ? Number(data) : data
      },
    },
    adapter: given => {
      const { tableOf, columnOf, columnsOf, rowOf, condition, assignments, one } = tablesOf(given)
      const remove = (model: string, where: Sql, columns = sql`id`) =>
        write(sql`delete from ${tableOf(model)} where ${where} returning ${columns}`)
      const change = (model: string, set: readonly Sql[], where: Sql) =>
        write(
          sql`update ${tableOf(model)} set ${join(set, comma)} where ${where} returning ${columnsOf(model)}`,
        )

      return {
        create: async ({ model, data }) => {
          if (model === 'user') return (await users.create(data)) as never
          const columns = join(Object.keys(data).map(columnOf), comma)
          const values = join(Object.values(data), comma)
          const [row] = await write(
            sql`insert into ${tableOf(model)} (${columns}) values (${values}) returning ${columnsOf(model)}`,
          )
          return rowOf(model, row) as never
        },
        update: async ({ model, where, update }) => {
          if (model === 'user') return (await users.update(where, update as PersonInput)) as never
          const [row] = await change(model, assignments(update as object), condition(where))
          return rowOf(model, row) as never
        },
        updateMany: async ({ model, where, update }) =>
          (await change(model, assignments(update), condition(where))).length,
        findOne: async ({ model, where }) => {
          if (model === 'user') return (await users.find(where)) as never
          const [row] = await read(
            sql`select ${columnsOf(model)} from ${tableOf(model)} where ${condition(where)} limit 1`,
          )
          return rowOf(model, row) as never
        },
        findMany: async ({ model, where, limit, sortBy, offset = 0 }) => {
          const order = sortBy
            ? sql` order by ${columnOf(sortBy.field)} ${trusted(sortBy.direction === 'desc' ? 'desc' : 'asc')}`
            : sql``
          const found = await read(
            sql`select ${columnsOf(model)} from ${tableOf(model)} where ${condition(where)}${order} limit ${number(limit)} offset ${number(offset)}`,
          )
          return found.map(row => rowOf(model, row)) as never
        },
        count: async ({ model, where }) =>
          (await read(sql`select id from ${tableOf(model)} where ${condition(where)}`)).length,
        delete: async ({ model, where }) => void (await remove(model, condition(where))),
        deleteMany: async ({ model, where }) => (await remove(model, condition(where))).length,
        // What may happen once happens in one statement, whatever other processes do.
        consumeOne: async ({ model, where }) => {
          const [row] = await remove(model, one(model, where), columnsOf(model))
          return rowOf(model, row) as never
        },
      } satisfies CustomAdapter
    },
  })
}
