/** The read of a user's picture: the stored one, or else an identicon. It is public, as the author of a post is. */

import { notFound, type Rows, type Sql, sql } from 'duet/actions'
import { anyone } from 'duet/model'
import {
  type Core,
  type ExtraRoute,
  header,
  isNotModified,
  pathId,
  queryOf,
  type ReadOptions,
  readOptionsOf,
  represent,
} from 'duet/routes'
import { identicon, type PictureType, pictureTypes } from './entity.ts'

const policy = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'X-Content-Type-Options': 'nosniff',
}

/** A stored picture; `bytes` is null if the caller has it already. */
type Picture = {
  readonly type: PictureType
  readonly tag: string
  readonly bytes: Uint8Array<ArrayBuffer> | null
}

/**
 * The picture of a user, null if none is stored; throws `NOT_FOUND` if there is no such user.
 * `isKnown` tells by its ETag whether the caller has it: then its bytes are not read.
 */
const pictureOf = async (
  { reader, dialect }: Core,
  id: number,
  isKnown: (tag: string) => boolean,
  asked: ReadOptions,
): Promise<Picture | null> => {
  const find = async (bytes: Sql, isQuick: boolean) => {
    const piece = sql`select a.type, a.digest, ${bytes} from users as u
      left join avatars as a on a.user_id = u.id where u.id = ${id}`
    return pictureIn(await reader.query({ ...queryOf(piece, dialect), isQuick }, asked))
  }
  const pictureIn = ([row]: Rows): Picture | null => {
    if (!row) throw notFound('user', id)
    const [type, digest, bytes] = row
    if (type == null) return null
    return { type: type as PictureType, tag: `"${digest}"`, bytes: bytes as Picture['bytes'] }
  }
  // The second query returns type and tag again: the picture may have changed in between.
  const found = await find(sql`null`, true)
  return found === null || isKnown(found.tag) ? found : find(sql`a.bytes`, false)
}

/** `GET /users/{id}/avatar`. */
export const avatarRead: ExtraRoute = {
  method: 'GET',
  path: '/users/:id/avatar',
  described: {
    rule: anyone,
    operationId: 'getUserAvatar',
    summary: 'Get the picture of a user',
    description: 'The one that was put; else one that is drawn from the id and never changes.',
    forms: Object.fromEntries(
      [...pictureTypes, 'image/svg+xml'].map(type => [
        type,
        { schema: { type: 'string', format: 'binary' } },
      ]),
    ),
  },
  serve:
    ({ core, edge }) =>
    async (c, viewer, named) => {
      const id = pathId(c, 'id', 'user')
      const sent = header(c, 'if-none-match')
      const isKnown = (tag: string) => isNotModified(sent, tag)
      const stored = await pictureOf(core, id, isKnown, readOptionsOf(edge, c, viewer))
      const { bytes, ...own } = stored ?? { bytes: identicon(id), type: 'image/svg+xml' }
      const { headers, ...reply } = represent(c, edge, bytes, { named, isPublic: true, ...own })
      return { ...reply, headers: { ...headers, ...policy } }
    },
}
