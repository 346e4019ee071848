/** The message for verifying an address, as plain text and as simple HTML, and the token in it. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { html, type Message, type Services } from 'duet/actions'

/** The recipient of a message. */
export type Recipient = { readonly id: number; readonly name: string; readonly email: string }

/** How long a token is valid, in milliseconds. */
const life = 24 * 3_600_000

/** The user and address in a token, or the fault of the token. */
type ProvenAddress =
  | { readonly kind: 'good'; readonly id: number; readonly email: string }
  | { readonly kind: 'expired' }
  | { readonly kind: 'bad' }

// The purpose is signed too, so that no other signature with this key is valid here.
const signature = (key: Uint8Array, claims: string): string =>
  createHmac('sha256', key).update(`duet verify-email 1\n${claims}`).digest('base64url')

/** A token for this person's current address. */
const sealToken = (key: Uint8Array, { id, email }: Recipient, now: number): string => {
  const claims = Buffer.from(JSON.stringify([id, now + life, email])).toString('base64url')
  return `${claims}.${signature(key, claims)}`
}

const tokenForm = /^([\w-]{1,1000})\.([\w-]{43})$/

/** The content of a token at this moment. */
export const openToken = (key: Uint8Array, token: string, now: number): ProvenAddress => {
  const [, claims, given] = tokenForm.exec(token) ?? []
  if (claims === undefined || given === undefined) return { kind: 'bad' }
  // The encoded texts are compared, so that a valid token has one spelling.
  if (!timingSafeEqual(Buffer.from(signature(key, claims)), Buffer.from(given)))
    return { kind: 'bad' }
  const [id, until, email] = JSON.parse(Buffer.from(claims, 'base64url').toString()) as [
    number,
    number,
    string,
  ]
  return now < until ? { kind: 'good', id, email } : { kind: 'expired' }
}

// Line ends, control characters, and characters that change the direction of the text around them.
const unruly = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]+/gu
const longestName = 80

// Anybody may sign up with another's address: the name they give must not become a link in our message.
const likeLink = /[/\\:@]|www\.|\.\p{L}{2}/iu

/** The message for a person, with the token in a link to `base` and by itself. */
const messageOf = (person: Recipient, token: string, base: string): Message => {
  const oneLine = [...person.name.replace(unruly, ' ').trim()].slice(0, longestName).join('')
  const name = likeLink.test(person.name) ? '' : oneLine
  const hello = name === '' ? 'Hello,' : `Hello ${name},`
  // The token is in the fragment: browsers send it to no server, so it is in no log.
  const link = `${base}/verify-email#user=${person.id}&token=${token}`
  const why = 'please confirm that this email address is yours:'
  const orToken = 'Where you are asked for a token, it is this one:'
  const end =
    'Both can be used for 24 hours. If you did not sign up, you need not do anything: the address stays unconfirmed.'
  const page = html`<!doctype html>
<html lang="en"><body>
<p>${hello}</p>
<p>${why}</p>
<p><a href="${link}">Confirm this address</a></p>
<p>${orToken}<br><code>${token}</code></p>
<p>${end}</p>
</body></html>
`
  return {
    to: { name, address: person.email },
    subject: 'Confirm your email address',
    text: `${[hello, why, link, orToken, token, end].join('\n\n')}\n`,
    html: String(page),
  }
}

/** Sends the message to a person, unless the service sends no mail. */
export const sendVerification = (
  person: Recipient,
  { mail, key, publicUrl, now }: Services,
  signal: AbortSignal,
): Promise<void> =>
  mail.send(
    {
      recipient: person.id,
      address: person.email,
      compose: () => messageOf(person, sealToken(key, person, now()), publicUrl()),
    },
    signal,
  )
