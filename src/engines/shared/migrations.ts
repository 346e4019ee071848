/** The migrations of a store, SQL files that are applied in the order of their names, and what a store records of them and of itself. */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { NewerStoreError, type Secrets, secrets } from '#engines/shared/store.ts'
import type { Dialect } from '#sql/dialect.ts'
import { ConstraintError, type Query, type QueryScript, queryOf, queryWith } from '#sql/engine.ts'
import { sql } from '#sql/sql.ts'

export type Migration = {
  readonly name: string
  readonly text: string
  /** The text as its file has it, if that is filled in for a content: the checksum is of this one. */
  readonly source?: string
  /** Whether a store that lacks it lacks nothing. */
  readonly isOptional?: boolean
}

/** What decides the history of a store beside the machine: the folder of the content's migrations, and the table of those who sign in. */
export type HistorySource = {
  readonly migrations: URL
  readonly people?: { readonly table: string } | undefined
}

/** The engines that have migrations, each in a folder of that name. */
export type EngineName = 'sqlite' | 'postgres'

const migrationsIn = (folder: URL, prefix = ''): readonly Migration[] =>
  readdirSync(folder)
    .filter(file => file.endsWith('.sql'))
    .sort()
    .map(file => ({
      name: `${prefix}${file.slice(0, -'.sql'.length)}`,
      text: readFileSync(new URL(file, folder), 'utf8'),
    }))

/** The migrations of the machine's own tables. Their names begin with `duet/`, which no file name of the content can. */
export const machineMigrations = (engine: EngineName): readonly Migration[] =>
  migrationsIn(new URL(`../${engine}/migrations/`, import.meta.url), 'duet/')

/** The migrations of the content: those of `folder` for an engine; none if there is no such folder. */
export const contentMigrations = (engine: EngineName, folder: URL): readonly Migration[] => {
  const own = new URL(`${engine}/`, folder)
  return existsSync(own) ? migrationsIn(own) : []
}

/** The migrations of sign-in, whose rows go with those of the content; a store of a content without it may have them from before. */
const peopleMigrations = (
  engine: EngineName,
  people: HistorySource['people'],
): readonly Migration[] =>
  migrationsIn(new URL(`../${engine}/migrations/people/`, import.meta.url), 'duet/').map(
    ({ name, text }) => ({
      name,
      text: text.replaceAll('{people}', `"${people?.table}"`),
      source: text,
      isOptional: people === undefined,
    }),
  )

/** The migrations that a draft begins with: the machine's and those of a content's folder. */
export const historyBefore = (engine: EngineName, folder: URL): readonly Migration[] => [
  ...machineMigrations(engine),
  ...contentMigrations(engine, folder),
]

/** All migrations of a store with this content, in the order in which they are applied. */
export const historyOf = (
  engine: EngineName,
  { migrations, people }: HistorySource,
): readonly Migration[] => [
  ...historyBefore(engine, migrations),
  ...peopleMigrations(engine, people),
]

/** A migration as a store has recorded it. */
export type Applied = {
  readonly name: string
  readonly checksum: string
  /** When, in milliseconds. */
  readonly at: number
}

/** The checksum of a migration's text, the same for LF and CRLF. */
export const checksumOf = ({ text, source = text }: Migration): string =>
  createHash('sha256').update(source.replaceAll('\r\n', '\n')).digest('hex')

/** Which newer program has a migration. */
export const ownerOf = (migration: string): string =>
  migration.startsWith('duet/')
    ? 'a newer Duet'
    : 'a newer release of the content or another branch'

/**
 * The migrations that a store lacks. Throws NewerStoreError if it has some that this program does not know, and an
 * error if the text of an applied one was changed.
 */
export const missingOf = (
  known: readonly Migration[],
  applied: readonly Applied[],
): readonly Migration[] => {
  const unknown = applied.filter(({ name }) => !known.some(migration => migration.name === name))
  const [first] = unknown
  if (first) {
    const names = unknown.map(({ name }) => name).join(', ')
    throw new NewerStoreError(
      `the store has the migration ${names}, which this program does not know: it is of ${ownerOf(first.name)}; start that one, or go back to a backup from before ${new Date(first.at).toISOString()}`,
    )
  }
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  for (const migration of known) {
    const checksum = checksums.get(migration.name)
    if (checksum !== undefined && checksum !== checksumOf(migration))
      throw new Error(
        `the migration ${migration.name} was changed after this store had applied it: put the file back as it was, and write the change as a new migration`,
      )
  }
  return known.filter(({ name, isOptional }) => isOptional !== true && !checksums.has(name))
}

/** The error of a failed migration, with its name and its cause. */
export const failed = ({ name }: Migration, cause: unknown): Error => {
  // The database names more than a table and a column, which it may leave out.
  const told = cause instanceof ConstraintError ? cause.cause : cause
  return new Error(`the migration ${name} failed: ${told instanceof Error ? told.message : told}`, {
    cause,
  })
}

/**
 * The first line of a migration whose statements run one by one, because PostgreSQL does not allow them in a
 * transaction. Each must be safe to run again, since a failure leaves those before it done.
 */
export const outsideMark = '-- outside a transaction\n'

const isThere = function* (dialect: Dialect, table: string): QueryScript<boolean> {
  return (yield queryOf(dialect.columnsOf(table), dialect)).length > 0
}

/** The migrations applied to a store; none if it was never migrated. */
export const appliedIn = function* (dialect: Dialect): QueryScript<readonly Applied[]> {
  if (!(yield* isThere(dialect, 'migrations'))) return []
  const rows = yield queryWith(
    'select name, checksum, applied_at from migrations order by applied_at, name',
  )
  return rows.map(([name, checksum, at]) => ({
    name: String(name),
    checksum: String(checksum),
    at: Number(at),
  }))
}

/** The statement that records a migration as applied. */
export const recordOf = (dialect: Dialect, migration: Migration, now: number): Query =>
  queryOf(
    sql`insert into migrations (name, applied_at, checksum) values (${migration.name}, ${now}, ${checksumOf(migration)})`,
    dialect,
  )

/** Makes the keys that a migrated store lacks; writes nothing if it has them all. */
export const makeSecrets = function* (dialect: Dialect): QueryScript<void> {
  const rows = yield queryWith('select name from secrets')
  const present = new Set(rows.map(([name]) => name))
  for (const name of secrets)
    if (!present.has(name))
      yield queryOf(
        sql`insert into secrets (name, value) values (${name}, ${randomBytes(32)}) on conflict do nothing`,
        dialect,
      )
}

/** The keys of a store; throws if it was never migrated. */
export const secretsIn = function* (dialect: Dialect): QueryScript<Secrets> {
  const isMade = yield* isThere(dialect, 'secrets')
  const rows = isMade ? yield queryWith('select name, value from secrets') : []
  const found = Object.fromEntries(rows)
  const lacked = secrets.find(name => !(found[name] instanceof Uint8Array))
  if (lacked) throw new Error(`the store has no ${lacked} key; run \`duet migrate\``)
  return found
}

// Comments, strings, quoted names, dollar-quoted bodies, semicolons, and the text between them.
const pieces =
  /--[^\n]*|\/\*(?:\/\*[\s\S]*?\*\/|[\s\S])*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;|[^-/'"$;]+|[\s\S]/g

/** Whether a text ends inside a trigger of SQLite, whose statements have semicolons of their own. */
const isInTrigger = (text: string) =>
  /^\s*create\s+trigger\b[\s\S]*\bbegin\b/i.test(text) && !/;\s*end\s*$/i.test(text)

/** The statements of a migration's text in order, without comments and their final semicolons. */
export const statementsOf = (text: string): readonly string[] => {
  const statements: string[] = []
  let statement = ''
  for (const [piece] of text.matchAll(pieces)) {
    if (piece !== ';' || isInTrigger(statement)) {
      // Comments part words, as spaces do.
      statement += /^(?:--|\/\*)/.test(piece) ? ' ' : piece
      continue
    }
    statements.push(statement.trim())
    statement = ''
  }
  return [...statements, statement.trim()].filter(one => one !== '')
}
