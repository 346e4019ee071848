/** The read of a user's picture: the stored one, or else an identicon. It is public, as the author of a post is. */
import { anyone } from 'duet/model'
import {
  type ExtraRoute,
  fileOf,
  pathId,
  readOptionsOf,
  represent,
  representFile,
} from 'duet/routes'
import { identicon, pictureTypes } from './picture.ts'

const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
const svg = 'image/svg+xml'

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
      [...pictureTypes, svg].map(type => [type, { schema: { type: 'string', format: 'binary' } }]),
    ),
  },
  serve:
    ({ core, edge }) =>
    async (c, viewer, named) => {
      const id = pathId(c, 'id', 'user')
      const at = { entity: 'user', field: 'avatar', id }
      const stored = await fileOf(core, at, readOptionsOf(edge, c, viewer))
      const facts = { named, isPublic: true }
      const { headers, ...reply } = stored
        ? await representFile(c, edge, stored, { ...facts, viewer })
        : represent(c, edge, identicon(id), { ...facts, type: svg })
      return { ...reply, headers: { ...headers, 'Content-Security-Policy': policy } }
    },
}
