/** A browser of a person who signs in to a world: it keeps cookies, sends its origin, and reads the mails of the world. */
import assert from 'node:assert/strict'
import { checkSignIn } from '#test/openapi/traffic.ts'
import { until } from '#test/support/wait.ts'
import type { World } from '../world.ts'

/** What a visitor sees of an answer. */
export type Seen = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the assertion says what it is.
  readonly json: any
  readonly code: string | undefined
}

type Extra = { readonly headers?: Record<string, string>; readonly origin?: string | null }

/** Where people reach a world. */
export const home = 'https://duet.example.org'

/** A browser without a session. */
export const visitorOf = ({ app }: Pick<World, 'app'>) => {
  const jar = new Map<string, string>()
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    extra: Extra = {},
  ): Promise<Seen> => {
    const { headers = {}, origin = home } = extra
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await app.request(path, {
      method,
      redirect: 'manual',
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(cookie !== '' && { cookie }),
        ...(method !== 'GET' && origin !== null && { origin }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';')
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      if (value === '' || /max-age=0/i.test(set)) jar.delete(name)
      else jar.set(name, value)
    }
    const text = await response.text()
    const { status } = response
    await checkSignIn(`${method} ${path}`, { status, headers: response.headers, text })
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    const json = isJson && text !== '' ? JSON.parse(text) : undefined
    return { status, headers: response.headers, text, json, code: json?.code ?? json?.error?.code }
  }
  return {
    jar,
    send,
    get: (path: string, extra?: Extra) => send('GET', path, undefined, extra),
    post: (path: string, body: unknown = {}, extra?: Extra) => send('POST', path, body, extra),
    /** Authorization with a new token of its session. */
    bearer: async () => {
      const { json, text } = await send('GET', '/auth/token')
      assert.equal(typeof json?.token, 'string', text)
      return { authorization: `Bearer ${json.token}` }
    },
  }
}

export type Visitor = ReturnType<typeof visitorOf>

/** The claims of a token, unchecked. */
export const claimsOf = ({ authorization }: { readonly authorization: string }) =>
  JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString())

const used = new WeakSet<object>()

/** The next mail to an address that nobody has read, whose subject fits. */
export const mailTo = async ({ letters }: World, address: string, subject: RegExp) => {
  const find = () =>
    letters.findLast(one => one.to === address && subject.test(one.subject) && !used.has(one))
  await until(`a mail ${subject} to ${address}`, () => find() !== undefined)
  const found = find()
  assert.ok(found)
  used.add(found)
  return found
}

/** Asks for a code, as the page does. */
export const askCode = (visitor: Visitor, email: string, extra?: Extra) =>
  visitor.post('/auth/email-otp/send-verification-otp', { email, type: 'sign-in' }, extra)

/** The code that was mailed to an address. */
export const codeFor = async (world: World, address: string): Promise<string> =>
  (await mailTo(world, address, /^\d{8} /)).subject.slice(0, 8)

/** Signs in by a code; `mailed` is the spelling of the row's own address. */
export const signIn = async (
  world: World,
  email: string,
  {
    name,
    mailed = email,
    by = visitorOf(world),
  }: { readonly name?: string; readonly mailed?: string; readonly by?: Visitor } = {},
) => {
  const asked = await askCode(by, email)
  assert.equal(asked.status, 200, asked.text)
  const otp = await codeFor(world, mailed)
  const answer = await by.post('/auth/sign-in/email-otp', { email, otp, ...(name && { name }) })
  return { by, answer, otp, id: String(answer.json?.user?.id) }
}
