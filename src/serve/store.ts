/** The store of a configuration: opened for commands and for the service, and checked that it takes what the model has. */

import { basename, dirname, join as pathOf, relative } from 'node:path'
import { withOpened } from '#base/with-opened.ts'
import { type Config, loadConfig } from '#config.ts'
import { type Content, type ContentStore, modelOf, type OpenStore } from '#content.ts'
import { catalogueOf } from '#engines/shared/catalogue.ts'
import { differencesIn } from '#engines/shared/differences.ts'
import { contentMigrations, type HistorySource, historyOf } from '#engines/shared/migrations.ts'
import { NewerStoreError, type Store } from '#engines/shared/store.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { fileStoreAt } from '#files/s3.ts'
import { backtrackingIn } from '#model/backtracking.ts'
import type { Field } from '#model/field.ts'
import { columnName, type Entities, type Model } from '#model/model.ts'
import { fileFields } from '#model/stored-file.ts'
import { foldedBy } from '#model/values.ts'
import { foldedAs, wordsCut } from '#model/words.ts'
import { checkCopies, twoRows } from '#serve/unique-copies.ts'
import { ConstraintError, queryOf, type Rows } from '#sql/engine.ts'
import { join, name, type Sql, type SqlValue, sql } from '#sql/sql.ts'

/** A configuration is of one content, whose model a start asks for twice. */
const models = new WeakMap<Config, Model>()

/** The model of the content with the settings of the configuration; throws ConfigError for an unknown currency. */
export const modelFor = (config: Config, content: Content): Model =>
  models.getOrInsertComputed(config, () => modelOf(content, content.decide(config.content)))

/** A store of development, which is told to be made anew where a branch has other migrations. */
const inDevelopment = (store: Store, anew: string): Store => {
  const told = (cause: unknown): never => {
    if (!(cause instanceof NewerStoreError)) throw cause
    const message = `${cause.message}; in development you may ${anew}, if you need nothing of it`
    throw new NewerStoreError(message, { cause })
  }
  return {
    ...store,
    migrate: () => store.migrate().catch(told),
    pending: () => store.pending().catch(told),
  }
}

const beginAnew = ({ store }: Config): string => {
  if (store.kind === 'postgres') return 'make the database anew'
  const folder = dirname(store.file)
  return basename(folder) === 'data'
    ? `delete ${relative('', folder) || folder}`
    : `delete ${store.file} with what is beside it (-wal, -shm)`
}

/** The store that the configuration names, with the history of a content; nothing of it is opened yet. */
export const storeOf = async (config: Config, source: HistorySource): Promise<Store> => {
  const store = await namedStore(config, source)
  return config.development ? inDevelopment(store, beginAnew(config)) : store
}

const namedStore = async ({ store, values }: Config, source: HistorySource): Promise<Store> => {
  if (contentMigrations(store.kind, source.migrations).length === 0)
    throw new Error(
      `the content has no migrations for ${store.kind}: run duet migrate --draft first, and read what it writes`,
    )
  const history = historyOf(store.kind, source)
  switch (store.kind) {
    case 'sqlite':
      return sqliteStore({
        file: store.file,
        minDisk: values.DUET_MIN_DISK,
        readers: values.DUET_READERS,
        sharedLog: values.DUET_WAL === 'shared' ? values.DUET_WAL_MAX : undefined,
        migrations: history,
      })
    case 'postgres': {
      // Loaded only here: its driver would delay every start on SQLite.
      const { postgresStore } = await import('#engines/postgres/store.ts')
      const replicas = values.DUET_REPLICA_URLS ?? []
      return postgresStore({
        url: store.url,
        migrations: history,
        replicas: replicas === 'auto' ? { patroni: values.DUET_PATRONI_URLS ?? [] } : replicas,
        prepare: values.DUET_PG_PREPARE,
        readers: values.DUET_PG_READERS,
        pool: values.DUET_PG_POOL,
      })
    }
    default:
      return store satisfies never
  }
}

/** Where the files of a configuration are: in a folder or a bucket. */
export const placeOfFiles = ({ values, store }: Pick<Config, 'values' | 'store'>): string =>
  values.DUET_FILES ??
  (store.kind === 'sqlite' ? pathOf(dirname(store.file), 'files') : './data/files')

/** The store of files of a configuration, and how many bytes it may have; undefined where no entity has a file. */
export const filesOf = (config: Pick<Config, 'values' | 'store'>, { entities }: Model) => {
  if (fileFields(entities).length === 0) return undefined
  const place = placeOfFiles(config)
  return { store: fileStoreAt(place), place, most: config.values.DUET_FILES_MAX }
}

/** Takes a store as DUET_STORE_WAIT says, and tells on standard error what it waits for; gives the function that releases it. */
export const hold = (store: Store, { values }: Config): Promise<() => void> => {
  const wait = values.DUET_STORE_WAIT
  return store.hold(wait, reason =>
    process.stderr.write(`duet: waiting up to ${wait / 1000} s: ${reason}\n`),
  )
}

/** Throws with the remedy if the store lacks migrations. */
export const checkCurrent = async (store: Store, remedy: string): Promise<void> => {
  const pending = await store.pending()
  if (pending.length > 0)
    throw new Error(`the store lacks the migration ${pending.join(', ')}; ${remedy}`)
}

/** The file of a SQLite store; throws with the command to use instead if the store is in PostgreSQL. */
export const fileOf = ({ store }: Config, instead: string): string => {
  if (store.kind === 'sqlite') return store.file
  throw new Error(`the store is a PostgreSQL database: ${instead}`)
}

/** The rows of a statement. */
export const ask = ({ session, dialect }: OpenStore, piece: Sql): Promise<Rows> =>
  session.query(queryOf(piece, dialect))

/** Whether any of these tables has a row. */
export const hasRows = async (store: OpenStore, tables: readonly string[]): Promise<boolean> => {
  for (const table of tables)
    if ((await ask(store, sql`select 1 from ${name(table)} limit 1`)).length > 0) return true
  return false
}

type Purpose = 'reading' | 'filling'

/** Opens a store: migrated first to be filled; to be read it must exist and be up to date, or this throws with the remedy. */
export const openFor = async (
  purpose: Purpose,
  store: Store,
  entities: Entities = {},
): Promise<OpenStore> => {
  if (purpose === 'filling') await migrateStore(store, entities)
  else await checkCurrent(store, 'run duet migrate first')
  return { session: await store.session(purpose), dialect: store.dialect }
}

/** Opens the store of the settings for a command, and closes it in the end. */
export const withStore = async <Result>(
  content: Content,
  purpose: Purpose,
  work: (store: ContentStore, label: string) => Promise<Result>,
): Promise<Result> => {
  const config = loadConfig(process.env, content.settings)
  const model = modelFor(config, content)
  const store = await storeOf(config, content)
  const open = { ...(await openFor(purpose, store, content.entities)), model }
  try {
    await checkCurrency(open, purpose === 'filling')
    return await work(open, store.label)
  } finally {
    await open.session.close()
  }
}

/** Throws a sentence with the remedy for each difference between a migrated store and its model; gives what else the store has, and which patterns may hold the service. */
export const checkSchema = async (store: Store, entities: Entities): Promise<readonly string[]> => {
  const differences = differencesIn(store.ddl, entities, catalogueOf(await store.made()))
  const stopping = differences.filter(({ isServed }) => !isServed)
  if (stopping.length > 0) throw new Error(stopping.map(({ text }) => text).join('\n'))
  const lacks = [
    ...backtrackingIn(entities),
    ...differences.flatMap(({ isAdded, text }) => (isAdded ? [text] : [])),
  ]
  const more = differences.flatMap(({ isAdded, text }) => (isAdded ? [] : [text])).join(', ')
  if (more === '') return lacks
  return [...lacks, `the store has more than the model, which a migration may drop: ${more}`]
}

/**
 * Applies the missing migrations; where rows break one, the error says how many do, and which is the first. Nothing is applied where rows
 * would count as one of which only one may be.
 */
export const migrateStore = async (
  store: Store,
  entities: Entities,
): Promise<readonly string[]> => {
  // A store that is not there yet has none to be found, and one that does not answer is told of when it is migrated.
  const pending = await store.pending().catch(() => [])
  if (pending.length > 0) await checkCopies(store, entities)
  try {
    return await store.migrate()
  } catch (cause) {
    const { message } = cause as Error
    if (!/constraint|null value|could not create unique/i.test(message)) throw cause
    const differences = differencesIn(store.ddl, entities, catalogueOf(await store.made(true)))
    const faults = await withOpened(store.session('reading'), async session => {
      const told: string[] = []
      for (const { broken } of differences) {
        if (!broken) continue
        const { table, where, fault } = broken
        const those = sql`select count(*), min(id) from ${name(table)} where ${where}`
        // It may be about a column that the migration would have made.
        const [[count, first] = []] = await ask({ session, dialect: store.dialect }, those).catch(
          (): Rows => [],
        )
        if (Number(count) > 0)
          told.push(
            `${table} has ${count} ${count === 1 ? 'row' : 'rows'} ${fault}, the first of the id ${first}: change them, or let an update above in that migration do so, then run duet migrate again`,
          )
      }
      return told
    }).catch(() => [])
    if (faults.length === 0) throw cause
    throw new Error([message, ...faults].join('\n'), { cause })
  }
}

/** Where a store remembers its currency, such as `USD 2`: beside its keys, which a backup and a move take along. */
const currencyKey = 'currency'

const remembering = (key: string, text: string): Sql =>
  sql`insert into secrets (name, value) values (${key}, ${new TextEncoder().encode(text)})
    on conflict (name) do update set value = excluded.value`

/**
 * Throws with the remedy if a store has amounts with other decimals than the currency of the model: they are stored in its minor units,
 * so all would be other amounts. `remembers` says whether one that fits is remembered for the next time.
 */
export const checkCurrency = async (store: ContentStore, remembers: boolean): Promise<void> => {
  const { entities, settings } = store.model
  const tables = Object.values(entities).flatMap(({ table, fields }) =>
    Object.values(fields).some(({ scalar }) => scalar === 'money') ? [table] : [],
  )
  if (tables.length === 0) return
  const { code, digits } = settings.currency
  const remembered = await rememberedIn(store, currencyKey)
  const now = `${code} ${digits}`
  if (remembered === now) return
  // Amounts of a store that remembers nothing are in the currency of the settings.
  const [before = '', known] = (remembered ?? code).split(' ')
  // Before stores remembered it, amounts were counted as `Intl` does.
  const usual = () => new Intl.NumberFormat('en', { style: 'currency', currency: before })
  const digitsBefore = Number(known ?? usual().resolvedOptions().maximumFractionDigits)
  if (digitsBefore !== digits && (await hasRows(store, tables))) {
    if (before === code)
      throw new Error(
        `the store has amounts in ${code} with ${digitsBefore} decimals, and this release counts ${digits}: each would be another amount; export them with the release that made the store, and import them into a new one`,
      )
    throw new Error(
      `the store has amounts in ${before}, with ${digitsBefore} decimals, and ${code} has ${digits}: each would be another amount; set the currency back to ${before}, or name another store`,
    )
  }
  if (!remembers) return
  // A store that takes no writes now is served for reading all the same; the next start remembers.
  await ask(store, remembering(currencyKey, now)).catch(() => {})
}

type FoldedCopy = {
  readonly name: string
  readonly plural: string
  readonly table: Sql
  readonly column: Sql
  readonly from: Sql
  readonly field: Field
}

/** The folded copies of an entity's rows. Rows that are never changed are left out: they stay as they are, so a copy that is added later does not reach them. */
const copiesOf = (entities: Entities): readonly FoldedCopy[] =>
  Object.values(entities).flatMap(({ fields, table, plural, appendOnly, view }) =>
    Object.entries(appendOnly || view ? {} : fields).flatMap(([key, field]): FoldedCopy[] => {
      const { foldedFrom } = field
      if (foldedFrom === undefined) return []
      const [column, from] = [name(columnName(key)), name(columnName(foldedFrom))]
      return [{ name: `${key} of ${plural}`, plural, table: name(table), column, from, field }]
    }),
  )

/** Rows that are filled in one transaction, for which writers wait. */
const foldedBatch = 500

/** Which copies of rows are made: those that are missing, those of texts beyond ASCII, which folds as it ever did, or all. */
type Remaking = 'missing' | 'beyond ASCII' | 'all'

/** The first rows after an id whose copies are made, each with its id, the text to fold and its copy. */
const rowsAfter = (
  { table, column, from }: FoldedCopy,
  id: SqlValue,
  which: Remaking,
  most: number,
) => {
  const isLong = sql`octet_length(${from}) > length(${from})`
  const others = { missing: [], 'beyond ASCII': [isLong], all: [sql`true`] }[which]
  const isMade = join([sql`${column} is null`, ...others], sql` or `)
  return sql`select id, ${from}, ${column} from ${table} where id > ${id} and ${from} is not null
    and (${isMade}) order by id limit ${most}`
}

/** Where a store remembers how the words of its rows were cut, and how its other copies were folded. */
const cutKey = 'words'
const foldedKey = 'folded'

const rememberedIn = async (store: OpenStore, key: string): Promise<string | undefined> => {
  const [row] = await ask(store, sql`select value from secrets where name = ${key}`)
  return row?.[0] instanceof Uint8Array ? new TextDecoder().decode(row[0]) : undefined
}

/** Sentences if the copies of a store's texts were made otherwise than this release makes those of what callers look for. */
export const notesOnCopies = async (
  store: OpenStore,
  entities: Entities,
): Promise<readonly string[]> => {
  const copies = copiesOf(entities)
  if (copies.length === 0) return []
  const cut = await rememberedIn(store, cutKey)
  const by = await rememberedIn(store, foldedKey)
  const isCut =
    copies.some(({ field }) => field.copied === 'words') && cut !== undefined && cut !== wordsCut
  const isFolded = copies.some(({ field }) => !field.copied) && by !== foldedBy
  return [
    ...(isCut
      ? [
          `the words of rows were cut by the rules ${cut}, and this release has ${wordsCut}: searches may miss rows until duet migrate cuts them anew`,
        ]
      : []),
    ...(isFolded
      ? [
          'the folded copies of texts were made by an older release: letters that are composed otherwise may be missed until duet migrate folds them anew',
        ]
      : []),
  ]
}

/**
 * Fills the folded copies that rows lack, as SQL does not fold as the program does, and makes those anew that were folded by other rules,
 * with `anew` those of words that were cut otherwise: batch by batch, so that an interrupted run goes on from there; gives what it
 * filled, such as `titleKey of books in 12 rows`. Throws with the remedy if a copy cannot be stored, such as one of two that must differ.
 */
export const fillFolded = async (
  { session: open, dialect }: Store,
  entities: Entities,
  anew = false,
): Promise<readonly string[]> => {
  const copies = copiesOf(entities)
  if (copies.length === 0) return []
  const hasWords = copies.some(({ field }) => field.copied === 'words')
  const { unfilled, cut, by } = await withOpened(open('reading'), async session => {
    const store = { session, dialect }
    // A store that remembers nothing has no words but those of this release.
    const cut = hasWords ? await rememberedIn(store, cutKey) : undefined
    const by = await rememberedIn(store, foldedKey)
    const found: (FoldedCopy & { readonly which: Remaking })[] = []
    for (const copy of copies) {
      const isWords = copy.field.copied === 'words'
      const isCut = isWords && anew && cut !== undefined && cut !== wordsCut
      const isFolded = !copy.field.copied && by !== foldedBy
      const which = isCut ? 'all' : isFolded ? 'beyond ASCII' : 'missing'
      if (which === 'missing' && !copy.field.nullable) continue
      if ((await ask(store, rowsAfter(copy, 0, which, 1))).length > 0)
        found.push({ ...copy, which })
    }
    return { unfilled: found, cut, by }
  })
  const remembered: readonly (readonly [key: string, text: string])[] = [
    ...(hasWords && (cut === undefined || (anew && cut !== wordsCut))
      ? [[cutKey, wordsCut] as const]
      : []),
    ...(by === foldedBy ? [] : [[foldedKey, foldedBy] as const]),
  ]
  if (unfilled.length === 0 && remembered.length === 0) return []
  return withOpened(open('filling'), async session => {
    const store = { session, dialect }
    const told: string[] = []
    for (const { which, ...copy } of unfilled) {
      const { table, column } = copy
      let filled = 0
      let last: SqlValue = 0
      let batch = new Map<string, SqlValue>()
      let made = ''
      const fillSome = async (): Promise<boolean> => {
        const rows = await ask(store, rowsAfter(copy, last, which, foldedBatch))
        batch = new Map()
        for (const [id = null, text, before] of rows) {
          last = id
          made = foldedAs(copy.field, String(text))
          if (made === before) continue
          await ask(store, sql`update ${table} set ${column} = ${made} where id = ${id}`)
          batch.set(made, id)
          filled++
        }
        return rows.length > 0
      }
      try {
        while (await session.transaction(fillSome));
      } catch (cause) {
        const isTaken = cause instanceof ConstraintError && cause.kind === 'unique'
        const [[stored] = []] = isTaken
          ? await ask(
              store,
              sql`select id from ${table} where ${column} = ${made} and id <> ${last}`,
            )
          : []
        const other = batch.get(made) ?? stored
        if (other != null) {
          const ids = [other, last]
          throw new Error(twoRows(copy.name, copy.plural, copy.field.foldedFrom, ids), { cause })
        }
        const reason = (cause as Error).message
        throw new Error(
          `${copy.name} cannot be filled for the rows that are there (${reason}): change them, then run duet migrate again`,
          { cause },
        )
      }
      if (filled > 0) told.push(`${copy.name} in ${filled} rows`)
    }
    // A store that takes no writes now is served for reading all the same; the next start remembers.
    for (const [key, text] of remembered) await ask(store, remembering(key, text)).catch(() => {})
    return told
  })
}
