/** Hands messages to a mail server over SMTP. */
import type { Transporter } from 'nodemailer'
import { isLoopback } from '#base/paths.ts'
import type { Message } from '#model/services.ts'

/** Delivers a message; rejects if that failed. */
export type Deliver = (message: Message, now: number, signal: AbortSignal) => Promise<void>

/** The longest waits for a mail server, in milliseconds. */
export type Waits = { readonly step: number; readonly whole: number }

const usualWaits: Waits = { step: 10_000, whole: 30_000 }

const optionsOf = (address: string) => {
  const { protocol, hostname, port, username, password } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '')
  const secure = protocol === 'smtps:'
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  return {
    host,
    secure,
    ...(port !== '' && { port: Number(port) }),
    ...(username !== '' && { auth }),
    // A password is never sent unencrypted, even if a third party hides that the server could encrypt.
    requireTLS: username !== '' && !secure && !isLoopback(host),
  }
}

/** Delivers through the server at `address`, a connection for each message. */
export const smtp = (address: string, from: string, waits: Waits = usualWaits): Deliver => {
  const { step, whole } = waits
  let transport: Promise<Transporter> | undefined
  const open = async (): Promise<Transporter> => {
    // Loaded with the first message: most starts need none.
    const { createTransport } = await import('nodemailer')
    return createTransport({
      ...optionsOf(address),
      dnsTimeout: step,
      connectionTimeout: step,
      greetingTimeout: step,
      socketTimeout: step,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
  return async (message, now, signal) => {
    transport ??= open().catch(error => {
      // The next message tries anew: what failed may be over by then.
      transport = undefined
      throw error
    })
    const { to, ...said } = message
    await (await transport).sendMail({
      ...said,
      to: { name: to.name ?? '', address: to.address },
      from,
      date: new Date(now),
      // RFC 3834, section 5: no vacation notice is to answer this.
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(whole)]),
    })
  }
}

/** Why a delivery failed, by code alone: a mail server's own words may repeat the address. */
export const reasonOf = (error: unknown): { code: string; isFinal: boolean } => {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
  const word = typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : 'EUNKNOWN'
  const answer = typeof responseCode === 'number' ? ` ${responseCode}` : ''
  // RFC 5321, section 4.2.1: a command that was answered with 5yz is not repeated; nor is one that an address without its form never let begin. 53z is of the login (RFC 4954, section 6), which an operator mends.
  const isFinal =
    responseCode === undefined ? word === 'EENVELOPE' : /^5[^3]/.test(`${responseCode}`)
  return { code: `${word}${answer}`, isFinal }
}
