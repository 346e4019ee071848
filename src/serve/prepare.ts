/** Makes a store ready once before it is served, by one process or several. */
import { mapped } from '#base/object.ts'
import { withOpened } from '#base/with-opened.ts'
import type { Config } from '#config.ts'
import type { Content, ContentStore, OpenStore, RowsByEntity } from '#content.ts'
import { widerNote } from '#engines/shared/files.ts'
import { dropFormer } from '#files/former.ts'
import type { Model } from '#model/model.ts'
import { roundedTo } from '#model/money.ts'
import { authOf, ownFiles } from '#serve/auth.ts'
import { checkedGraphql } from '#serve/graphql.ts'
import { isEmpty, putRows } from '#serve/insert.ts'
import {
  checkCurrency,
  checkCurrent,
  checkSchema,
  fillFolded,
  hold,
  migrateStore,
  modelFor,
  notesOnCopies,
  storeOf,
} from '#serve/store.ts'
import { ConfigError, settingsOfPeople } from '#settings.ts'

/** A content with an operator's settings, to be served; on a socket, if one was handed over. */
export type Program = {
  readonly config: Config
  readonly content: Content
  readonly socket?: number | undefined
}

/** The time of a demo's first row, and the milliseconds between two rows. */
const demoStart = Date.UTC(2026, 0, 5, 9)
const hour = 3_600_000

/** Puts the rows of a demo into a store that has no content at all. */
export const fillEmpty = async (store: ContentStore, rows: RowsByEntity): Promise<void> => {
  // A transaction waits for other writers, which a store with content need not; inside it nobody else can fill this one.
  if (!(await isEmpty(store))) return
  const { entities, settings } = store.model
  const fitted = mapped(rows, (list, what) =>
    list.map(row => roundedTo(settings.currency.digits, entities[what]?.fields ?? {}, row)),
  )
  await store.session.transaction(async () => {
    if (await isEmpty(store)) await putRows(store, fitted, demoStart, hour)
  })
}

/** The check of a store by sign-in; undefined where it is off. Throws a ConfigError for settings that cannot be. */
const peopleOn = async (config: Config, content: Content, model: Model) => {
  if (content.people === undefined) {
    const named = settingsOfPeople.find(name => config.values[name] !== undefined)
    if (named === undefined) return undefined
    throw new ConfigError(
      `${named} is for a content whose people sign in, and this one has none: leave it out, or give the content people`,
    )
  }
  const { checkPeople, peopleFor } = await import('#serve/people.ts')
  const settings = peopleFor(config, content, model, content.people)
  return settings && { check: (open: OpenStore) => checkPeople(open, config, settings('')) }
}

/**
 * Takes the store, brings it up to date, and puts demo content into an empty one in development; gives the function that
 * releases it. A database that others may be serving is migrated only if the operator says so. `tell` gets what operators should read.
 */
export const prepare = async (
  { config, content }: Program,
  migrates: boolean,
  tell: (line: string) => void,
): Promise<() => void> => {
  const report = (what: 'applied' | 'filled', done: readonly string[]): void => {
    if (done.length > 0) tell(`${what} ${done.join(', ')}`)
  }
  // Wrong settings are reported before the store is touched.
  authOf(config, content)
  const model = modelFor(config, content)
  const people = await peopleOn(config, content, model)
  await checkedGraphql(config, model, content.actions)
  const store = await storeOf(config, content)
  // The lock first: a store that another process serves is not migrated.
  const release = await hold(store, config)
  const isFile = config.store.kind === 'sqlite'
  const isOurs = migrates || isFile
  if (isOurs) report('applied', await migrateStore(store, content.entities))
  else await checkCurrent(store, 'run duet migrate first, or duet serve --migrate')
  const settle = async () => {
    for (const note of await checkSchema(store, content.entities)) tell(note)
    if (isOurs) report('filled', await fillFolded(store, content.entities))
  }
  // A server may end a session that is idle while copies are filled.
  if (!isFile) await settle()
  // Opened first and closed last: the first connection to a file makes its log, and the last one takes it away.
  await withOpened(store.session('filling'), async session => {
    const open = { session, dialect: store.dialect, model }
    if (isFile) await settle()
    for (const note of ownFiles(config).flatMap(file => widerNote(file) ?? [])) tell(note)
    for (const note of await notesOnCopies(open, content.entities)) tell(note)
    if (content.people && !people)
      tell(
        'nobody can sign in here: sign-in is off without DUET_PEOPLE_SECRET, 32 bytes or more (openssl rand -base64 48)',
      )
    await checkCurrency(open, true)
    if (isFile) await dropFormer(session, store.dialect, content.entities)
    await people?.check(open)
    if (config.development && content.demo) await fillEmpty(open, await content.demo())
  })
  return release
}
