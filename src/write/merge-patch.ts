/** JSON merge patches (RFC 7396): objects in a change are merged into the JSON values that the rows have. */
import { isObject, type JsonObject } from '#base/object.ts'
import { ApiError } from '#errors.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import { partRelations } from '#model/parts.ts'
import { resourceOf } from '#model/resource.ts'
import type { Version } from '#model/version.ts'
import { columnsOf } from '#read/predicate.ts'
import type { Dialect } from '#sql/dialect.ts'
import { comma, join, name, type SqlValue, sql } from '#sql/sql.ts'
import type { Values } from '#write/input.ts'
import { type Writer, writePieces } from '#write/job.ts'

/** Gives the JSON values that a row has now, by field; undefined for a row that is not there, or into which nothing is merged. */
export type StoredJson = (entity: string, id: number) => Values | undefined

export type Merge = {
  readonly entity: string
  readonly id: number
  readonly keys: readonly string[]
}

/** The JSON fields that an update gives an object, of its row and of the rows that it updates with it. */
export const mergesIn = (
  model: Model,
  version: Version,
  entityName: string,
  id: number,
  input: JsonObject,
): readonly Merge[] => {
  const { entity, fieldNamed } = resourceOf(model, entityName, version)
  const keys = Object.entries(input).flatMap(([member, value]) => {
    const key = fieldNamed(member)
    return key !== undefined && isObject(value) && entity.fields[key]?.scalar === 'json'
      ? [key]
      : []
  })
  const below = partRelations(model, entityName, 'update').flatMap(({ key, entity, of }) => {
    const given = of === undefined && Object.hasOwn(input, key) ? input[key] : undefined
    const items: readonly unknown[] =
      isObject(given) && Array.isArray(given.update) ? given.update : []
    return items.flatMap(item =>
      isObject(item) && Number.isSafeInteger(item.id)
        ? mergesIn(model, version, entity, Number(item.id), item)
        : [],
    )
  })
  return keys.length > 0 ? [{ entity: entityName, id, keys }, ...below] : below
}

/** Reads what an update merges its objects into, as it is committed now. */
export const storedJson = async (
  store: { readonly model: Model; readonly writer: Writer; readonly dialect: Dialect },
  merges: readonly Merge[],
): Promise<StoredJson> => {
  const { model, dialect } = store
  const found = new Map<string, Values>()
  for (const [of, some] of Map.groupBy(merges, ({ entity }) => entity)) {
    const { table } = entityOf(model, of)
    const keys = [...new Set(some.flatMap(({ keys }) => keys))]
    const columns = ['id', ...keys].map(key => name(columnName(key)))
    const ids = dialect.valuesIn(sql`${JSON.stringify(some.map(({ id }) => id))}`)
    const [rows = []] = await writePieces(
      store,
      sql`select ${join(columns, comma)} from ${name(table)} where ${dialect.among(columnsOf(table)('id'), ids)}`,
    )
    for (const [id, ...texts] of rows)
      found.set(`${of} ${id}`, new Map(keys.map((key, at) => [key, texts[at] as SqlValue])))
  }
  return (of, id) => found.get(`${of} ${id}`)
}

/** The most milliseconds for which a merge is done again because others changed what it was merged into. */
const longestTrying = 3000

/** A JSON value was changed between its reading and the write of what was merged into it. */
export class ChangedMeanwhile extends ApiError {
  constructor() {
    super('CONFLICT', 'Others change the same JSON value time after time: try again')
  }

  // It is caught by its class, wherever in the input the value is.
  override aboutPart = (): ApiError => this
}

/** The merges into rows of each store, by row: those of one row come one after another. */
const latest = new WeakMap<Writer, Map<string, Promise<unknown>>>()

/** Merges into a row once the merges before it are done, and again while others change what it merges into. */
export const merging = <Done>(
  { writer }: { readonly writer: Writer },
  row: string,
  merge: () => Promise<Done>,
): Promise<Done> => {
  const rows = latest.getOrInsertComputed(writer, () => new Map())
  const begun = performance.now()
  const tryAll = async (): Promise<Done> => {
    for (;;)
      try {
        return await merge()
      } catch (error) {
        const isLate = performance.now() - begun > longestTrying
        if (!(error instanceof ChangedMeanwhile) || isLate) throw error
      }
  }
  const done = (rows.get(row) ?? Promise.resolve()).then(tryAll, tryAll)
  rows.set(row, done)
  const forget = () => {
    if (rows.get(row) === done) rows.delete(row)
  }
  done.then(forget, forget)
  return done
}
