/** Files that a write gives its row: each is taken on by a step of that write, once, or was there already (`placed` stores its description). */
import { isUpload } from '#model/field.ts'
import { columnName, entityOf, fieldOf } from '#model/model.ts'
import { callerOf, type Viewer } from '#model/policy.ts'
import { versionAt } from '#model/stored-file.ts'
import { and, column, comma, join, name, type Sql, type SqlPart, sql } from '#sql/sql.ts'
import { conditionOf, type GuardedStep, type Writing } from '#write/command.ts'
import { invalid } from '#write/input.ts'
import { isKeptFile } from '#write/row-values.ts'

/** How long an upload waits for its row, in milliseconds. */
export const uploadTime = 86_400_000

/** Whose an upload is: the caller by its token; of callers without one it is who knows its id. */
export const ownerOf = (viewer: Viewer): string => callerOf(viewer) ?? ''

/** A number of bytes as people write it. */
export const inBytes = (bytes: number): string => {
  const [unit, size] =
    bytes >= 1e9 ? (['GB', 1e9] as const) : bytes >= 1e6 ? (['MB', 1e6] as const) : ['kB', 1e3]
  return bytes < 1e3 ? `${bytes} bytes` : `${Math.round((bytes / size) * 10) / 10} ${unit}`
}

/** Whether a type is among those that a field accepts. */
export const accepts = (accept: readonly string[], type: string): boolean =>
  accept.some(one => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))))

/** The condition on an upload that its type is accepted. */
const isAccepted = (accept: readonly string[]): Sql => {
  const plain = accept.filter(type => !type.endsWith('/*'))
  const kinds = accept.filter(type => type.endsWith('/*')).map(type => type.slice(0, -1))
  const each = [
    ...(plain.length > 0 ? [sql`type in (${join(plain, comma)})`] : []),
    ...kinds.map(kind => sql`substr(type, 1, ${kind.length}) = ${kind}`),
  ]
  return sql`(${join(each, sql` or `)})`
}

/**
 * The steps after a write of these values that take its uploads on: each is there, its caller's, young enough, and fits its field; it is
 * gone afterwards, so that the next write does not find it. `row` finds the row whose files may have been sent back, by who may read them.
 */
export const claims = (
  writing: Writing,
  entityName: string,
  values: ReadonlyMap<string, SqlPart>,
  row?: Sql,
): readonly GuardedStep[] => {
  const { viewer, now, model } = writing
  const entity = entityOf(model, entityName)
  return [...values].flatMap(([key, value]): readonly GuardedStep[] => {
    const field = fieldOf(entity, key)
    const { accept, max } = field.file ?? { accept: [], max: 0 }
    if (field.file && isUpload(value)) {
      const mine = and([
        sql`id = ${value}`,
        sql`owner = ${ownerOf(viewer)}`,
        sql`created_at > ${now - uploadTime}`,
      ])
      const found: Pick<GuardedStep, 'explain' | 'refused'> = {
        explain: sql`select type, bytes from uploads where ${mine}`,
        refused: ([upload]) => {
          const [type, bytes] = upload ?? []
          let message =
            'is no upload of yours that waits: each is used once, within 24 hours; send the file to POST /api/files again'
          if (upload && !accepts(accept, String(type)))
            message = `must be ${accept.join(' or ')}, and is ${type}`
          else if (upload && Number(bytes) > max)
            message = `must be at most ${inBytes(max)}, and is ${inBytes(Number(bytes))}`
          return invalid([{ field: key, message }])
        },
      }
      return [
        {
          // From now on a row names its bytes, and the collector of garbage leaves them.
          sql: sql`update files set collect_at = null where digest in (select digest from uploads where ${mine}) returning digest`,
          ...found,
        },
        {
          sql: sql`delete from uploads where ${mine} and bytes <= ${max} and ${isAccepted(accept)} returning id`,
          ...found,
        },
      ]
    }
    if (!isKeptFile(field, value)) return []
    const message =
      'is not the file that the row has: leave it out, or give the id of an upload, as POST /api/files answers it'
    const version = sql`substr(${column(entity.table, columnName(key))}, ${versionAt.from}, ${versionAt.length})`
    const isSame = sql`${version} = ${value.slice(2)}`
    const isRead = conditionOf(writing, entityName, field.readableBy)
    return [
      {
        // To anybody else it would tell which file the row has.
        sql: sql`select 1 from ${name(entity.table)} where ${and([row ?? sql`false`, isSame, isRead])}`,
        refused: () => invalid([{ field: key, message }]),
      },
    ]
  })
}
