/** The paths of sign-in in an app: exactly those of the list, each through the life of any request; what the library has besides nobody reaches. */
import { STATUS_CODES } from '#base/http.ts'
import type { JsonObject } from '#base/object.ts'
import { authPath, errorsPath } from '#base/paths.ts'
import { createSlowLane } from '#base/slow-lane.ts'
import { ApiError, machineErrors, peopleErrors } from '#errors.ts'
import { preferred } from '#http/accept.ts'
import { jsonBody } from '#http/body.ts'
import { exchange, type Handle, type HttpContext } from '#http/exchange.ts'
import { errorHeaders, type Reply } from '#http/reply.ts'
import { type App, type Http, header, queryString, readOptionsOf } from '#http/request.ts'
import { anonymous } from '#model/policy.ts'
import type { AskPeople } from '#people/host.ts'
import {
  type AuthAnswer,
  callerHeader,
  type Language,
  languageHeader,
  unavailable,
} from '#people/messages.ts'
import {
  type AuthPath,
  authPaths,
  type BodyMembers,
  documentPath,
  keySetPath,
  membersOf,
} from '#people/paths.ts'
import type { PeopleSettings } from '#people/settings.ts'
import type { WayIn } from '#settings.ts'

/** The largest body of a request for sign-in, in bytes. */
const largestBody = 16_384

/** What the thread of people has at a time, as it waits for the store meanwhile, and what waits for it: so much for each provider, and for all that needs none. */
const places = { concurrency: 16, waiting: 1000, longestWait: 10_000, what: 'sign-ins' }

/** The headers of a request that the library gets; what a proxy says of its caller is decided before. */
const passedOn = [
  ...(['cookie', 'authorization', 'origin', 'referer', 'user-agent'] as const),
  ...(['sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest'] as const),
]

/** The headers of an answer of the library that its caller gets, beside cookies. */
const passedBack = ['content-type', 'location', 'set-auth-token']

/** Whether a path is there with these ways in. */
export const isServed = ({ way }: AuthPath, ways: readonly WayIn[]): boolean =>
  way === undefined || ways.includes(way)

type SignIn = {
  readonly ask: AskPeople
  readonly settings: () => PeopleSettings
  /** The public keys as a JSON Web Key Set. */
  readonly keySet: () => Promise<string>
  /** The OpenAPI document of what is served. */
  readonly document: () => Promise<string>
}

/** The language of those that mails and pages have which a caller likes best. */
export const languageFor = (c: Http): Language =>
  preferred((header(c, 'accept-language') ?? '').replace(/-\w+/g, ''), ['en', 'de']) === 'de'
    ? 'de'
    : 'en'

/** A problem as RFC 9457 has it, with the library's `message` beside: its client reads that and `code`. */
const fail = (error: ApiError, requestId: string): Reply => {
  const { code, title, status, message } = error
  // The page of errors knows no codes of the library (RFC 9457, section 4.2.1).
  const isExplained = code in machineErrors || code in peopleErrors
  const type = isExplained ? `${errorsPath}#${code}` : 'about:blank'
  return {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...errorHeaders(error),
    },
    body: JSON.stringify({ type, title, status, detail: message, code, message, requestId }),
    code,
  }
}

/** The network of a caller as an address, which the library counts by. */
const networkOf = (edge: HttpContext, c: Http): string => {
  const address = edge.callerOf(c, anonymous).replace(/^address /, '')
  return address === 'unknown' ? '0.0.0.0' : address.replace(/\/64$/, '')
}

/** The error that an answer of the library tells. */
const errorOf = (
  { status, body }: AuthAnswer,
  wait: string | undefined,
  isConfigured: boolean,
): ApiError => {
  // Where the library itself has failed there is none.
  const said: { code?: string; message?: string } = body === '' ? {} : JSON.parse(body)
  const { [status]: title = 'The request failed' } = STATUS_CODES
  const { code = status === 429 ? 'RATE_LIMITED' : 'REFUSED', message } = said
  // A provider whose discovery document cannot be read now is asked for it again at the next click.
  if (code === 'PROVIDER_NOT_FOUND' && isConfigured)
    return new ApiError('UNAVAILABLE', 'This identity provider does not answer just now', {
      retryAfter: 10,
    })
  const soon = status === 503 ? 5 : undefined
  const retryAfter = status === 429 ? Number(wait ?? 60) : soon
  return new ApiError({ code, status, title }, message, { retryAfter })
}

/** The reply for an answer of the library. */
const replyOf = (answer: AuthAnswer, requestId: string, isConfigured: boolean): Reply => {
  const { status, headers, body } = answer
  const cookies = headers.flatMap(([name, value]) => (name === 'set-cookie' ? [value] : []))
  if (status >= 400) {
    const wait = headers.find(([name]) => name === 'x-retry-after')?.[1]
    return { ...fail(errorOf(answer, wait, isConfigured), requestId), cookies }
  }
  const passed = headers.filter(([name]) => passedBack.includes(name))
  return {
    status,
    headers: { 'Cache-Control': 'no-store', ...Object.fromEntries(passed) },
    body: body === '' ? null : body,
    cookies,
  }
}

/** The members of a body that pass. */
const bodyFor = async (c: Http, takes: BodyMembers): Promise<JsonObject> => {
  const names = membersOf(takes).map(({ name }) => name)
  const given = await jsonBody(c, largestBody, ['application/json'], names.length === 0)
  return Object.fromEntries(names.flatMap(name => (name in given ? [[name, given[name]]] : [])))
}

/** Throws 403 for a page of an origin that may not sign people in; programs have no origin. */
const checkOrigin = (c: Http, { origins, url }: PeopleSettings, { gives }: AuthPath): void => {
  const origin = header(c, 'origin')
  // The way back from a provider needs the cookie of its start, which a browser keeps for pages of that address alone.
  const [able, how] =
    gives === 'Started' ? [[url], `with a provider: start at ${url}`] : [origins, 'here']
  if (origin === undefined || able.includes(origin)) return
  const from = origin.slice(0, 200)
  throw new ApiError(peopleErrors.INVALID_ORIGIN, `Pages of ${from} may not sign people in ${how}`)
}

/** Mounts the paths of sign-in. */
export const mountPeople = (app: App, outer: HttpContext, signIn: SignIn): void => {
  // No token of the APIs is looked at: what stands in Authorization here is a session.
  const edge: HttpContext = { ...outer, bodyLimit: largestBody, authenticate: () => anonymous }
  const add = ({ method, path }: Pick<AuthPath, 'method' | 'path'>, handle: Handle) => {
    const whole = `${authPath}${path}`
    // It waits for the thread of people and is no write of this one.
    app.on(method, whole, exchange(edge, fail, handle, whole, { isWrite: () => false }))
  }
  const text = (body: string): Reply => ({
    status: 200,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=60' },
    body,
  })
  add(keySetPath, async () => text(await signIn.keySet()))
  add({ method: 'GET', path: documentPath }, async () => text(await signIn.document()))
  const { ways, providers } = signIn.settings()
  const lanes = new Map(providers.map(({ name }) => [name, createSlowLane(places)]))
  const lane = createSlowLane(places)
  // The thread of people tries two at a time, of all threads: where few of each wait there, callers take turns.
  const ofPasswords = createSlowLane({ ...places, concurrency: 8 })
  for (const one of authPaths) {
    if (!isServed(one, ways)) continue
    add(one, async (c, _viewer, requestId) => {
      const settings = signIn.settings()
      if (one.takes) checkOrigin(c, settings, one)
      const body = one.takes && (await bodyFor(c, one.takes))
      const headers: [string, string][] = passedOn.flatMap(name => {
        const value = header(c, name)
        return value === undefined ? [] : [[name, value] as [string, string]]
      })
      headers.push([callerHeader, networkOf(edge, c)], [languageHeader, languageFor(c)])
      if (body) headers.push(['content-type', 'application/json'])
      const query = new URLSearchParams(queryString(c))
      // For one that it names the library would wait, whatever is asked.
      query.delete('provider')
      const url = `${settings.url}${c.req.path}?${query}`
      const asked = { method: one.method, url, headers, body: body && JSON.stringify(body) }
      // What the library throws is no reason to leave a caller without an answer.
      const ask = () => signIn.ask(asked).catch(() => Promise.reject(unavailable()))
      const named = body ? (body.provider ?? body.providerId) : c.req.param('id')
      const ofProvider = lanes.get(String(named))
      // A browser comes back from one that is no longer in the settings; the library would count each name that is made up.
      if (one.gives === null && !ofProvider) {
        const Location = `${settings.url}/signin?error=state_mismatch`
        return { status: 302, headers: { Location, 'Cache-Control': 'no-store' }, body: null }
      }
      const its = one.way === 'password' ? ofPasswords : (ofProvider ?? lane)
      const answer = await its.run(ask, readOptionsOf(edge, c, anonymous))
      return replyOf(answer, requestId, ofProvider !== undefined)
    })
  }
}
