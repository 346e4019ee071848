/** `duet restore --check`: restores a backup aside, as it would be restored and started, and says what is in it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closing } from '#base/closing.ts'
import type { Content, OpenStore } from '#content.ts'
import { historyOf } from '#engines/shared/migrations.ts'
import { restore, sumFileOf } from '#engines/sqlite/backup.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { columnName, type Entities } from '#model/model.ts'
import { ask } from '#serve/store.ts'
import { name, type Sql, sql } from '#sql/sql.ts'

type Counts = {
  readonly rows: readonly (readonly [plural: string, count: number])[]
  /** The newest moment in any row, and the rows that have it; undefined where there is none. */
  readonly newest: { readonly time: number; readonly plural: string } | undefined
}

const countsIn = async (store: OpenStore, entities: Entities): Promise<Counts> => {
  const numberIn = async (piece: Sql): Promise<number | undefined> => {
    const [[value] = []] = await ask(store, piece)
    return value == null ? undefined : Number(value)
  }
  const rows: [string, number][] = []
  let newest: Counts['newest']
  for (const { table, plural, fields } of Object.values(entities)) {
    rows.push([plural, (await numberIn(sql`select count(*) from ${name(table)}`)) ?? 0])
    for (const [field, { scalar }] of Object.entries(fields)) {
      if (scalar !== 'time') continue
      const column = name(columnName(field))
      const time = await numberIn(sql`select max(${column}) from ${name(table)}`)
      if (time !== undefined && time > (newest?.time ?? -Infinity)) newest = { time, plural }
    }
  }
  return { rows, newest }
}

const report = (
  source: string,
  hasSum: boolean,
  applied: readonly string[],
  { rows, newest }: Counts,
): string => {
  const lines = [
    `${source} can be restored: it is whole and undamaged, and every reference leads to a row`,
    hasSum
      ? `its bytes are those of ${sumFileOf(source)}`
      : `there is no ${sumFileOf(source)}: a value that was changed since the backup is not found`,
  ]
  if (applied.length > 0) lines.push(`a start applies what it lacks: ${applied.join(', ')}`)
  for (const [plural, count] of rows)
    lines.push(`${plural.padEnd(14)} ${count.toLocaleString('en').padStart(12)}`)
  const found = newest && `${new Date(newest.time).toISOString()}, in ${newest.plural}`
  lines.push(`newest moment: ${found ?? 'none, it is empty'}`)
  return `${lines.join('\n')}\n`
}

/** What a backup has, in lines. Throws with the reason where it cannot be restored. Nothing is left behind. */
export const trialOf = async (source: string, content: Content): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-check-'))
  try {
    const file = join(folder, 'duet.db')
    const migrations = historyOf('sqlite', content.migrations)
    const tables = Object.values(content.entities).map(({ table }) => table)
    const { hasSum } = await restore(source, file, { force: false, tables, migrations })
    const store = sqliteStore({ file, migrations })
    const applied = await store.migrate()
    const counts = await closing(store.session('reading'), session =>
      countsIn({ session, dialect: store.dialect }, content.entities),
    )
    return report(source, hasSum, applied, counts)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
