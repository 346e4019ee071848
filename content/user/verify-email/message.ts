/** The message for verifying an address: plain text, and the same as simple HTML. */
import { html } from 'hono/html'
import { type Person, sealToken } from '#content/user/verify-email/token.ts'
import type { Message } from '#mail/smtp.ts'
import type { Services } from '#write/services.ts'

// Line ends, control characters, and those that change the direction of the text around them.
const unruly = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]+/gu
const longestName = 80

/** The name on one line. */
const calm = (name: string): string =>
  [...name.replace(unruly, ' ').trim()].slice(0, longestName).join('')

// Anybody may sign up with another's address: the name they give must not become a link in our message.
const likeLink = /[/\\:@]|www\.|\.\p{L}{2}/iu

/** The message for a person, with the token in a link to `base` and by itself. */
const messageOf = (person: Person, token: string, base: string): Message => {
  const name = likeLink.test(person.name) ? '' : calm(person.name)
  const hello = name === '' ? 'Hello,' : `Hello ${name},`
  // In the fragment: browsers send it to no server, so it is in no log.
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

/** Sends the message to a person soon, unless the service sends no mail. */
export const sendVerification = (person: Person, services: Services): void => {
  const { mail, key, publicUrl, now } = services
  mail.send({
    recipient: person.id,
    address: person.email,
    compose: () => messageOf(person, sealToken(key, person, now()), publicUrl()),
  })
}
