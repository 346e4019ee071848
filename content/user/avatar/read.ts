/** The read of a user's picture: the stored one, or else an identicon. Anyone may, as anyone may see who wrote a post. */

import { after } from '#base/after.ts'
import type { PictureType } from '#content/user/avatar/entity.ts'
import { identicon } from '#content/user/avatar/identicon.ts'
import type { Core } from '#core.ts'
import { isNotModified } from '#http/conditional.ts'
import { header, positionOf } from '#http/request.ts'
import { notFound } from '#model/model.ts'
import { pathId } from '#rest/mount.ts'
import { represent, representAs } from '#rest/represent.ts'
import type { ExtraRoute } from '#rest/rest.ts'
import type { Position, Work } from '#sql/engine.ts'
import { type Sql, sql, statement } from '#sql/sql.ts'

const policy = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'X-Content-Type-Options': 'nosniff',
}

/** A stored picture; `bytes` is null where the caller has it already. */
type Picture = {
  readonly type: PictureType
  readonly tag: string
  readonly bytes: Uint8Array<ArrayBuffer> | null
}

/**
 * The picture of a user, null where none is stored; throws `NOT_FOUND` where there is no such user.
 * `isKnown` tells by its ETag whether the caller has it: then its bytes are not read.
 */
const pictureOf = (
  { reader, dialect }: Core,
  id: number,
  isKnown: (tag: string) => boolean,
  after: Position | undefined,
): Picture | null | Promise<Picture | null> => {
  const query = (piece: Sql) => ({ text: statement(piece, dialect.placeholder).text, values: [id] })
  const found = sql`select a.type, a.digest from users as u
    left join avatars as a on a.user_id = u.id where u.id = ${id}`
  const whole = sql`select bytes from avatars where user_id = ${id}`
  const work = function* (): Work<Picture | null> {
    const [row] = yield query(found)
    if (!row) throw notFound('user', id)
    const [type, digest] = row
    if (type == null) return null
    const tag = `"${digest}"`
    if (isKnown(tag)) return { type: type as PictureType, tag, bytes: null }
    const [[bytes = null] = []] = yield query(whole)
    return { type: type as PictureType, tag, bytes: bytes as Uint8Array<ArrayBuffer> | null }
  }
  return reader.snapshot(work, after)
}

export const avatarRead: ExtraRoute = {
  method: 'GET',
  path: '/users/:id/avatar',
  serve:
    ({ core, edge }) =>
    (c, _viewer, named) => {
      const id = pathId(c, 'id', 'user')
      const sent = header(c, 'if-none-match')
      const picture = pictureOf(core, id, tag => isNotModified(sent, tag), positionOf(c))
      return after(picture, stored => {
        const facts = { named, isPublic: true, type: stored?.type ?? 'image/svg+xml' }
        const { headers, ...reply } = stored
          ? representAs(c, edge, stored.bytes, stored.tag, facts)
          : represent(c, edge, identicon(id), facts)
        return { ...reply, headers: { ...headers, ...policy } }
      })
    },
}
