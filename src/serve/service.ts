/** What a process has once, whether its main thread serves or several others do: the prepared store, opened, with the log, the outbox and the metrics. */
import { dayNumber, dayNumbered } from '#base/dates.ts'
import { graphqlPath, versionPath } from '#base/paths.ts'
import { withOpened } from '#base/with-opened.ts'
import { type Config, version } from '#config.ts'
import type { Content } from '#content.ts'
import type { Engine, ServingThread, Store } from '#engines/shared/store.ts'
import { formerFiles } from '#files/former.ts'
import { startTidying } from '#files/garbage.ts'
import { keeping } from '#files/keep.ts'
import { checkPictures } from '#files/sizes.ts'
import type { LimiterOptions } from '#http/limit/limiter.ts'
import { createMail, type Delivery } from '#mail/mail.ts'
import type { Model } from '#model/model.ts'
import type { Version, Versions } from '#model/version.ts'
import type { Observe } from '#observe.ts'
import { listed } from '#pages/page.ts'
import { tokenCommand } from '#pages/start.ts'
import type { AskPeople, HostOptions } from '#people/host.ts'
import { logging } from '#serve/log.ts'
import { metricsOf } from '#serve/metrics.ts'
import type { ServedPeople } from '#serve/people.ts'
import type { Program } from '#serve/prepare.ts'
import { filesOf, modelFor, storeOf } from '#serve/store.ts'
import { endSettings } from '#settings.ts'
import { queryWith } from '#sql/engine.ts'
import { type DeprecationDays, shortNotice } from '#versions/deprecation.ts'
import { startPurging } from '#write/idempotency.ts'
import { type Outbox, startOutbox } from '#write/outbox.ts'

export type Running = {
  readonly url: string
  /** The greeting for the person who started it. */
  readonly hello: string
  /** Finishes running requests, and closes everything. */
  readonly stop: () => Promise<void>
}

/** How long a service whose store stopped still answers, in milliseconds. */
const lastAnswers = 300

/** How long effects that are due are still run at the end, in milliseconds. */
const lastEffects = 3000

const deprecationOf = (
  { values, content }: Config,
  { oldest: version }: Versions,
): DeprecationDays | undefined => {
  const [from, sunset] = endSettings(version).map(name => content[name] as string | undefined)
  if (from === undefined) return undefined
  const { DUET_DEPRECATION: header, DUET_NOTICE: notice } = values
  return { version, from, sunset, header, holds: notice === 'kept' ? 'notice' : 'sunset' }
}

/** Since when the deprecation of a version is announced, as the store remembers it. */
export const announcedIn = async (store: Store, wanted: Version): Promise<string | undefined> => {
  const query = queryWith('select version, first_day from version_notices')
  const rows = await withOpened(store.session('reading'), session => session.query(query))
  const day = rows.find(([version]) => Number(version) === wanted)?.[1]
  return day == null ? undefined : String(day)
}

/** What an address that stands for all of them means. */
const anyAddress: Readonly<Record<string, string>> = {
  '0.0.0.0': 'all other IPv4 addresses',
  '::': 'all other addresses',
}

/** Says where it listens; with a token also how others are made, and a line for each API that can be pasted into a shell. */
export const greetingOf = (
  { config, content }: Program,
  url: string,
  metrics: string | undefined,
  token: string | null,
  invitation: string | undefined,
  threads = 1,
): string => {
  const everywhere = anyAddress[config.host]
  const where = everywhere === undefined ? url : `${url} and ${everywhere}`
  const many = threads === 1 ? '' : ` in ${threads} threads`
  const listens = `Duet ${version} listens on ${where}${metrics === undefined ? '' : ` with metrics on ${metrics}`}${many}`
  if (token === null) return listens
  const { graphql, rest } = content.examples.withToken
  const address = `${url}${versionPath(content.versions.newest)}${rest}`
  // Shells look for files by some of its letters.
  const quoted = /[?&*;]/.test(address) ? `'${address}'` : address
  // In another terminal `token` would sign with the key of other settings.
  const decide = ['DUET_DATABASE_URL', 'DUET_AUTH_SECRET', 'DUET_AUTH_ISSUER', 'DUET_AUTH_AUDIENCE']
  const needed = decide.filter(name => process.env[name])
  const same = needed.length === 0 ? '' : ` with the same ${listed(needed)}`
  const signIn = invitation === undefined ? '' : `\n  Sign in  ${invitation}\n`
  const operation = `curl -s ${url}${graphqlPath} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${JSON.stringify({ query: graphql })}' -w '\\n'`
  return `${listens}
${signIn}
  Tokens   ${tokenCommand(content)}, in ${process.cwd()}${same}

  GraphQL  ${config.values.DUET_DOCUMENTS_ONLY ? 'takes the documents of DUET_DOCUMENTS alone' : operation}

  REST     curl -s ${quoted} -H 'Authorization: Bearer ${token}' -w '\\n'
`
}

/** What one of several threads that serve has of the main thread, which has no app itself. */
type ThreadContext = ServingThread & {
  /** Adds lines to the log of the process. */
  readonly log: (lines: string) => void
  readonly outbox: Outbox
  readonly counts: LimiterOptions['shared']
  /** Has a request for sign-in answered by the main thread. */
  readonly askPeople: AskPeople
  readonly onDamage: (message: string) => void
}

type Opening = {
  /** Called when the process can serve no more. */
  readonly onFatal: () => void
  /** The thread is one of several that serve, or, as `host`, the main thread of them. */
  readonly thread?: ThreadContext | 'host'
  /** Called with what SQLite says of a damaged page. */
  readonly onDamage?: (message: string) => void
  /** Called when nothing can be written any more. */
  readonly onStop?: (message: string) => void
}

const peopleOf = async (
  config: Config,
  content: Content,
  model: Model,
  {
    engine,
    publicUrl,
    askPeople,
    ...more
  }: Pick<HostOptions, 'delivery' | 'observe' | 'wakeOutbox'> & {
    readonly engine: Engine
    readonly publicUrl: () => string
    readonly askPeople: AskPeople | undefined
  },
): Promise<ServedPeople | undefined> => {
  const { people } = content
  if (people === undefined) return undefined
  const { peopleFor, servePeople } = await import('#serve/people.ts')
  const settingsFor = peopleFor(config, content, model, people)
  if (settingsFor === undefined) return undefined
  const settings = () => settingsFor(publicUrl())
  return servePeople(engine, { ...more, model, people, settings }, Date.now, askPeople)
}

/** What is there once in a thread, whether or not it serves: the store, its log and its metrics. */
export const openService = async (
  { config, content }: Program,
  { onFatal, onDamage, onStop, thread }: Opening,
) => {
  const { values } = config
  const own = thread === 'host' ? undefined : thread
  const model = modelFor(config, content)
  const limits = { objects: values.DUET_MAX_OBJECTS, bytes: values.DUET_MAX_RESPONSE }
  const state = { isDraining: false, url: '' }
  const store = await storeOf(config, content)
  const log = logging(values.DUET_LOG, values.DUET_SLOW, own?.log)
  const metrics = await metricsOf(config, own?.number)
  const observe: Observe = metrics
    ? event => {
        log.observe(event)
        metrics.observe(event)
      }
    : log.observe
  /** Before the end, callers that wait are told that the outcome is unknown. */
  const reportFatal = (message: string): void => {
    log.observe({ kind: 'fatal', message })
    process.stderr.write(`duet: ${message}; the service ends, start it again\n`)
    setTimeout(() => {
      log.flush()
      onFatal()
    }, lastAnswers)
  }
  const engine = store.open({
    digits: model.settings.currency.digits,
    limits,
    readTimeout: values.DUET_READ_TIMEOUT,
    queue: values.DUET_WRITE_QUEUE,
    writeWait: values.DUET_WRITE_WAIT,
    isWatched: values.DUET_CACHE > 0,
    isHost: thread === 'host',
    ...(own && { thread: own }),
    ...(metrics && { onCommit: metrics.committed }),
    onProblem: message => observe({ kind: 'problem', message }),
    onNotice: message => observe({ kind: 'notice', message }),
    onDamage: own?.onDamage ?? onDamage ?? (() => {}),
    onFatal: message => {
      state.isDraining = true
      onStop?.(message)
      // The main thread has the same reason to end the process.
      if (!own) reportFatal(message)
    },
  })
  const ofStore = { writer: engine, dialect: engine.dialect, now: Date.now }
  const files = filesOf(config, model)
  const { DUET_SMTP_URL: url, DUET_MAIL_FROM: from } = values
  // Without SMTP development shows mail, and production has none.
  const unsent: Delivery = { kind: config.development ? 'shown' : 'none' }
  const delivery: Delivery = url && from ? { kind: 'smtp', url, from } : unsent
  const secrets = await store.secrets()
  const services = {
    mail: createMail({ now: Date.now, observe, delivery }),
    key: secrets.mail,
    publicUrl: () => values.DUET_PUBLIC_URL ?? state.url,
    keepFile: keeping({ ...ofStore, model, files }),
    now: Date.now,
  }
  const { entities } = model
  const outbox =
    own?.outbox ?? startOutbox({ ...ofStore, reader: engine, entities, services, observe })
  const deprecation = deprecationOf(config, model.versions)
  const announced = deprecation && (await announcedIn(store, deprecation.version))
  if (deprecation && !own) {
    const today = dayNumbered(dayNumber(Date.now()))
    const message = shortNotice(deprecation, today, announced)
    if (message !== undefined) observe({ kind: 'notice', message })
  }
  const people = await peopleOf(config, content, model, {
    ...{ engine, delivery, observe, publicUrl: services.publicUrl },
    ...{ wakeOutbox: outbox.wake, askPeople: own?.askPeople },
  })
  const endPurging = own
    ? () => {}
    : startPurging({ ...ofStore, ...(people && { also: people.sweep }) })
  await checkPictures(entities)
  // One thread looks after what is kept.
  const kept = own ? undefined : files
  const isShared = config.store.kind === 'postgres'
  if (kept && isShared && values.DUET_FILES === undefined)
    observe({
      kind: 'notice',
      message: `files are in ${kept.store.label} of this machine: where several machines serve this database, set DUET_FILES to a folder that all share, or to s3://BUCKET/PREFIX?endpoint=URL`,
    })
  const moving = { ...ofStore, reader: engine, entities, keepFile: services.keepFile }
  const session = () => store.session('filling')
  const endTidying =
    kept &&
    startTidying({ ...moving, store: kept.store, session, isShared }, message =>
      observe({ kind: 'notice', message }),
    )
  return {
    ...{ thread: own, model, limits, state, store, log, metrics, observe, reportFatal },
    ...{ engine, services, secrets, outbox, deprecation, announced, endPurging, people },
    files: files && { ...files, former: formerFiles(moving) },
    /** Ends what it has, after what serves on it. */
    close: async () => {
      endPurging()
      await endTidying?.()
      await Promise.all([people?.close(lastEffects), outbox.close(lastEffects)])
      await engine.close()
      log.end()
    },
  }
}

export type OpenedService = Awaited<ReturnType<typeof openService>>
