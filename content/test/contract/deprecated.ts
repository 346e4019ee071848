/** A world whose version 1 is deprecated, on a clock of the test, and what its answers say of that. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { mint } from '#auth/token.ts'
import { createLimiter } from '#http/limit/limiter.ts'
import { noQueue } from '#http/queue.ts'
import type { DeprecationDays } from '#versions/deprecation.ts'
import { type Answered, type Asking, createWorld, secret, type World } from '../world.ts'

/** What the operator says of version 1. */
export const deprecation: DeprecationDays = {
  version: 1,
  from: '2027-01-01',
  sunset: '2027-08-01',
  header: 'true',
  holds: 'sunset',
}

/** A world for the tests of a file; `setClock` says what time it is there. */
export const deprecatedWorld = () => {
  let clock = 0
  const now = () => clock
  const setClock = (moment: string) => {
    clock = Date.parse(moment)
  }
  /** The guard that a request runs into before anything else, where a test sets one up. */
  let guard: 'none' | 'limit' | 'queue' = 'none'
  const setGuard = (set: typeof guard) => {
    guard = set
  }
  const strict = createLimiter({ limit: 0, now })
  let world: World
  before(async () => {
    setClock('2027-03-01T12:00:00Z')
    world = await createWorld({
      now,
      deprecation,
      edge: {
        limiter: {
          ...strict,
          checkAddress: () => {},
          count: (c, viewer) => (guard === 'limit' ? strict.count(c, viewer) : undefined),
        },
        queue: { ...noQueue, enter: ({ run, shed }) => (guard === 'queue' ? shed() : run()) },
        urlLimit: 300,
        bodyLimit: 2000,
      },
    })
  })
  after(() => world.close())
  /** Sends a request with a token of this moment; user 1 is an admin. */
  const ask = async (line: string, { as, headers, ...rest }: Asking = {}) => {
    const role = as === 1 ? 'admin' : 'user'
    const token = typeof as === 'number' && (await mint({ sub: as, role, ttl: 60 }, secret, clock))
    return world.ask(line, {
      ...rest,
      headers: { ...(token && { Authorization: `Bearer ${token}` }), ...headers },
    })
  }
  return { ask, setClock, setGuard, now }
}

const about = '</docs/versions>; rel="deprecation"; type="text/html"'
/** Asserts that an answer tells of the deprecation; `successor` is the same request in version 2, null where it has none. */
export const tells = (answer: Answered, successor: string | null, what = answer.text) => {
  const link = successor === null ? about : `<${successor}>; rel=successor-version, ${about}`
  assert.equal(answer.headers.get('api-version'), '1', what)
  assert.equal(answer.headers.get('deprecation'), 'true', what)
  assert.equal(answer.headers.get('sunset'), 'Sun, 01 Aug 2027 00:00:00 GMT', what)
  const links = answer.headers.get('link') ?? ''
  assert.ok(links === link || links.startsWith(`${link}, <`), `${what} ${links}`)
}

/** Asserts that an answer tells of no deprecation. */
export const tellsNothing = ({ headers }: Answered, what = '') => {
  assert.equal(headers.get('deprecation'), null, what)
  assert.equal(headers.get('sunset'), null, what)
  assert.doesNotMatch(headers.get('link') ?? '', /successor-version|deprecation/, what)
}
