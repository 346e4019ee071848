/** People who sign in to services that run, each request on a connection of its own, so that threads and processes answer in turn; their codes come from a real mail server. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { mailServer } from '#test/mail-server.ts'
import { until } from '#test/support/wait.ts'

type Said = {
  readonly body?: unknown
  /** The session, or a token. */
  readonly bearer?: string | undefined
  /** The address that a proxy says the caller has. */
  readonly from?: string | undefined
}

/** Sends a request; rejects where it is not answered. */
export const send = (url: string, line: string, { body, bearer, from }: Said = {}) => {
  const [method, path] = line.split(' ')
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly status: number
    readonly session: string | undefined
    // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the assertion says what it is.
    readonly json: any
  }>()
  const sent = request(
    new URL(path ?? '', url),
    {
      ...(method && { method }),
      agent: false,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(from !== undefined && { 'x-forwarded-for': from }),
      },
    },
    response => {
      text(response).then(body => {
        const session = response.headers['set-auth-token']
        const json = body === '' ? undefined : JSON.parse(body)
        resolve({ status: response.statusCode ?? 0, session: session && String(session), json })
      }, reject)
    },
  )
  sent.on('error', reject)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

/** A mail server with the settings of a service that mails by it, and the codes that came. */
export const mailbox = async () => {
  const { url, messages, close } = await mailServer()
  const read = new Set<object>()
  /** The code of the next letter to an address; undefined if none has come. */
  const nextCode = (address: string) => {
    const found = messages.find(one => one.to.includes(address) && !read.has(one))
    if (found) read.add(found)
    return found && /\b\d{8}\b/.exec(found.text)?.[0]
  }
  return {
    settings: { DUET_SMTP_URL: url, DUET_MAIL_FROM: 'duet@example.org' },
    lettersTo: (address: string) => messages.filter(one => one.to.includes(address)).length,
    nextCode,
    /** Waits for the code of the next letter to an address; rejects once nobody is there that could send it. */
    code: async (address: string, isGone: () => boolean = () => false): Promise<string> => {
      let found: string | undefined
      await until(`a code comes to ${address}`, () => {
        found = nextCode(address)
        return found !== undefined || isGone()
      })
      if (found === undefined) throw new Error('the service is gone')
      return found
    },
    close,
  }
}

export type Mailbox = Awaited<ReturnType<typeof mailbox>>

export const codeAsked = 'POST /auth/email-otp/send-verification-otp'

/** Signs somebody in by a code, asked for at one address of the service and given at another, from an address that a proxy names; gives the session. */
export const signedIn = async (
  urls: readonly [asked: string, given: string],
  box: Mailbox,
  email: string,
  isGone?: () => boolean,
  from?: string,
): Promise<string> => {
  const asked = await send(urls[0], codeAsked, { body: { email, type: 'sign-in' }, from })
  assert.equal(asked.status, 200, JSON.stringify(asked.json))
  const otp = await box.code(email, isGone)
  const done = await send(urls[1], 'POST /auth/sign-in/email-otp', { body: { email, otp }, from })
  assert.equal(done.status, 200, JSON.stringify(done.json))
  assert.ok(done.session)
  return done.session
}

/** The status of a request for a token by a session. */
export const tokenStatus = async (url: string, bearer: string): Promise<number> =>
  (await send(url, 'GET /auth/token', { bearer })).status
