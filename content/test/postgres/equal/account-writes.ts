/** Generated writes of accounts: pictures, addresses and rights. */
import { life, sealToken } from '#content/user/verify-email/message.ts'
import type { Draw } from '#test/operations.ts'
import { idText, odd } from '#test/support/drawn-values.ts'
import { keys } from './content.ts'
import type { Asked, Memory } from './memory.ts'
import { admin, type Make, selfOr, sent } from './sent.ts'

const pictures = [
  '89504e470d0a1a0a0000000d49484452',
  'ffd8ffe000104a464946',
  '474946383961010001008000',
  '00',
  '',
  '3c7376673e',
]

/** A token for the address that a user has from the start, now and then an old one. */
const tokenFor = ({ chance }: Draw, { now }: Memory, id: number): string => {
  const email = id === 1 ? 'ada@example.org' : `${(id - 1) % 5 === 0 ? 'U' : 'u'}${id}@example.org`
  const madeAt = chance(10) ? now - life : now - 1000
  return sealToken(keys.mail, { id, name: '', email }, madeAt)
}

/** A write of an account. */
export const account: Make = (draw, memory) => {
  const { of, chance, upTo } = draw
  const id = idText(draw, memory.highest.users)
  const picture = new Uint8Array(Buffer.from(of(...pictures) + '00ff'.repeat(upTo(40)), 'hex'))
  const put = () => ({
    ...sent(draw, memory, {
      kind: 'put avatar',
      line: `PUT /api/users/${id}/avatar`,
      as: selfOr(draw, id),
    }),
    body: picture,
  })
  return of<() => Asked>(
    put,
    put,
    () =>
      sent(draw, memory, {
        kind: 'delete avatar',
        line: `DELETE /api/users/${id}/avatar`,
        as: selfOr(draw, id),
      }),
    () =>
      sent(draw, memory, {
        kind: 'verify',
        line: `POST /api/users/${id}/verify-email`,
        as: chance(50) ? 1 : selfOr(draw, id),
        ...(chance(30) && { body: of<unknown>({ token: 'x' }, { token: odd(draw) }, {}) }),
      }),
    () =>
      sent(draw, memory, {
        kind: 'verify by token',
        line: `POST /api/users/${id}/verify-email`,
        as: selfOr(draw, id),
        body: { token: tokenFor(draw, memory, Number(id)) },
      }),
    () =>
      sent(draw, memory, {
        kind: 'promote',
        line: `POST /api/users/${chance(30) ? id : upTo(60, 50)}/actions/promote-to-admin`,
        as: admin(draw),
        ...(chance(10) && { body: { a: 1 } }),
      }),
  )()
}
