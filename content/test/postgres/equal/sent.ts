/** How generated writes are sent: with good and bad members, tags and keys. */
import type { Draw } from '#test/operations.ts'
import { idText, odd, type Viewer, viewerOf } from '#test/support/drawn-values.ts'
import { type Asked, type Memory, tagsOf } from './memory.ts'

/** What makes a request. */
export type Make = (draw: Draw, memory: Memory) => Asked

/** The members of a body. */
export type Members = Readonly<Record<string, unknown>>

/** The members, now and then with one left out, too many, or odd. */
export const spoilt = (draw: Draw, members: Members): Members => {
  const { of, chance } = draw
  if (chance(75)) return members
  const key = of(...Object.keys(members))
  if (chance(20)) return Object.fromEntries(Object.entries(members).filter(([k]) => k !== key))
  if (chance(15))
    return { ...members, [of('id', 'role', 'status', 'revision', 'x', '__proto__')]: odd(draw) }
  return { ...members, [key]: odd(draw) }
}

/** Some of the members. */
export const some = ({ chance }: Draw, members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(() => chance(50)))

const bodyText = ({ of, chance }: Draw, body: unknown): string | Uint8Array<ArrayBuffer> => {
  const text = JSON.stringify(body)
  if (chance(97)) return text
  return of<string | Uint8Array<ArrayBuffer>>(
    ...['', '{', 'null', '[]', '"x"', `${text}x`, '{"name":"a","name":"b"}', '[[[[[[]]]]]]'],
    new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  )
}

/** A request with a body; a POST has a key now and then. */
export const sent = (
  draw: Draw,
  memory: Memory,
  asked: { kind: string; line: string; as: Viewer; body?: unknown },
): Asked => {
  const { of, chance } = draw
  const [method, path = ''] = asked.line.split(' ')
  const json = asked.body !== undefined
  const headers = {
    ...(json && {
      'Content-Type': chance(98)
        ? 'application/json'
        : of('text/plain', 'application/merge-patch+json'),
    }),
    ...(method === 'POST' &&
      chance(18) && {
        'Idempotency-Key': chance(8)
          ? of('"a b"', 'é', '')
          : of(`k${memory.now}`, `"k${memory.now}"`),
      }),
    ...(/PUT|PATCH|DELETE/.test(method ?? '') &&
      chance(30) && { 'If-Match': tagsOf(draw, memory, path) }),
  }
  return {
    ...asked,
    headers,
    ...(json ? { body: bodyText(draw, asked.body) } : { body: undefined }),
  } as Asked
}

/** An admin, most of the time. */
export const admin = (draw: Draw): Viewer => (draw.chance(80) ? 1 : viewerOf(draw))
/** The user of that id, most of the time. */
export const selfOr = (draw: Draw, id: string): Viewer =>
  draw.chance(70) && /^\d{1,4}$/.test(id) && id !== '0' && id[0] !== '0'
    ? Number(id)
    : viewerOf(draw)

/** A user's id; that of the admin who does most is spared. */
export const someone = (draw: Draw, { highest }: Memory): string =>
  idText(draw, highest.users).replace(/^1$/, '2')
