/** Sign-in in a running service: its settings and secret, its paths in each thread that serves, and the one thread of people behind it. A content without people loads none of it. */
import type { OwnTokens } from '#auth/authenticate.ts'
import { ownKeysOf } from '#auth/keys.ts'
import { once } from '#base/cache.ts'
import { program, versionPath } from '#base/paths.ts'
import type { Config } from '#config.ts'
import type { Content, OpenStore } from '#content.ts'
import type { Engine } from '#engines/shared/store.ts'
import type { HttpContext } from '#http/exchange.ts'
import type { App } from '#http/request.ts'
import { columnName, entityOf, type Model } from '#model/model.ts'
import type { People } from '#model/people.ts'
import { resourceOf } from '#model/resource.ts'
import type { Assets } from '#pages/assets.ts'
import { mountPeoplePages } from '#pages/people.ts'
import { type AskPeople, type HostOptions, hostPeople } from '#people/host.ts'
import { isServed, languageFor, mountPeople } from '#people/mount.ts'
import { checkStore, type PeopleSettings, peopleSettings } from '#people/settings.ts'
import { keySetOf, linkAt, linkFor, sweep } from '#people/store.ts'
import { fileSecret } from '#serve/auth.ts'
import { queryOf } from '#sql/engine.ts'
import { name, sql } from '#sql/sql.ts'
import { readPrimary, type StoreAccess, writePieces } from '#write/job.ts'

/** The settings of sign-in for an address; undefined in production without a secret. Throws a ConfigError for settings that cannot be. */
export const peopleFor = (
  config: Config,
  { title, creationRates }: Content,
  model: Model,
  people: People,
): ((url: string) => PeopleSettings) | undefined => {
  const made = config.development ? () => fileSecret(config, 'people-secret') : () => undefined
  const secret = config.values.DUET_PEOPLE_SECRET ?? made()
  if (secret === undefined) return undefined
  const signUpRate = creationRates(config.content)[people.entity]
  return peopleSettings(config, people, model, title, secret, signUpRate)
}

/** Checks that a store was used under this secret, or under none. */
export const checkPeople = (store: OpenStore, config: Config, settings: PeopleSettings) =>
  checkStore(store, settings, config.values.DUET_PEOPLE_SECRET === undefined)

/** The path below which the newest REST API changes rows of people, and what a name is called there; undefined if it does not. */
const restRowOf = (model: Model, { entity: what, name: key }: People) => {
  const entity = entityOf(model, what)
  if (!entity.rest.one || !entity.rest.writes.includes('update')) return undefined
  const { newest } = model.versions
  const { nameOf } = resourceOf(model, what, newest)
  return { path: `${versionPath(newest)}/${entity.plural}`, name: nameOf(key) }
}

/** What a thread that serves has of sign-in. */
export type ServedPeople = {
  readonly ask: AskPeople
  /** The keys of our own tokens, and whom those must name. */
  readonly own: OwnTokens
  readonly mount: (app: App, edge: HttpContext, content: Pick<Content, 'title' | 'license'>) => void
  readonly mountPages: (app: App, assets: Assets, hasAdmin: boolean) => void
  /** Deletes what has expired. */
  readonly sweep: () => Promise<unknown>
  /** What a developer is told: a link that signs the first of those with the highest role in once, within an hour, or how to make one where there is none; undefined if the store cannot keep a link now. */
  readonly invitation: () => Promise<string | undefined>
  /** Waits for letters that are under way for at most so many milliseconds. */
  readonly close: (wait: number) => Promise<void>
}

/** Sign-in on an engine; in one of several threads that serve, `askMainThread` has the main thread answer. */
export const servePeople = (
  engine: Engine,
  options: Omit<HostOptions, keyof StoreAccess>,
  now: () => number,
  askMainThread?: AskPeople,
): ServedPeople => {
  const { settings } = options
  const store = { reader: engine, writer: engine, dialect: engine.dialect }
  const host = askMainThread
    ? { ask: askMainThread, close: async () => {} }
    : hostPeople({ ...options, ...store })
  const keySet = () => keySetOf(store, now())
  const parties = () => {
    const { url } = settings()
    return { issuer: url, audience: url }
  }
  return {
    ...host,
    own: { find: ownKeysOf(keySet, now), parties },
    mount: (app, edge, content) => {
      const document = once(async () => {
        const { authDocument } = await import('#openapi/people.ts')
        const { ways } = settings()
        return JSON.stringify(authDocument(content, path => isServed(path, ways)))
      })
      mountPeople(app, edge, { ask: host.ask, settings, keySet, document })
    },
    invitation: async () => {
      const { model, people } = options
      const { superuser } = model.viewers.roles
      const first = sql`select id from ${name(people.table)} where ${name(columnName(people.role))} = ${superuser} order by id limit 1`
      const [row] = await readPrimary(store, queryOf(first, engine.dialect))
      const { url } = settings()
      if (row === undefined)
        return `${url}/signin\n           (the first ${superuser}: ${program} people add --email ADDRESS --role ${superuser})`
      const { token, insert } = linkFor(Number(row[0]), now())
      return writePieces(store, insert).then(
        () => `${linkAt(url, token)}\n           (as the first ${superuser}, once, within an hour)`,
        () => undefined,
      )
    },
    mountPages: (app, assets, hasAdmin) => {
      const { ways, providers } = settings()
      const shown = providers.map(({ name, label }) => ({ name, label }))
      const row = restRowOf(options.model, options.people)
      const said = { ways, providers: shown, language: languageFor, row, hasAdmin }
      mountPeoplePages(app, said, assets)
    },
    sweep: () => sweep(store, now()),
  }
}
