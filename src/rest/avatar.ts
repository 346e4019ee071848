/** A user's picture: the stored one, or else an identicon that is the same for ever for that id. */

import { hash } from 'node:crypto'
import { after } from '#base/after.ts'
import { isNotModified } from '#http/conditional.ts'
import { header, positionOf } from '#http/request.ts'
import { pathId, represent, representAs } from '#rest/reads.ts'
import type { Extra } from '#rest/rest.ts'
import type { Core } from '#write/core.ts'

const cells = 5

/** An SVG of five by five cells, mirrored, whose pattern and hue come from the id alone. */
export const identicon = (id: number): string => {
  const bytes = hash('sha256', `avatar ${id}`, 'buffer')
  const hue = ((bytes[0] ?? 0) * 256 + (bytes[1] ?? 0)) % 360
  const squares: string[] = []
  for (let row = 0; row < cells; row++)
    for (let column = 0; column < Math.ceil(cells / 2); column++) {
      if ((bytes[2 + row * 3 + column] ?? 0) % 2 === 0) continue
      for (const x of new Set([column, cells - 1 - column]))
        squares.push(`M${x + 0.5} ${row + 0.5}h1v1h-1z`)
    }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 6 6" width="120" height="120" role="img"><rect width="6" height="6" fill="hsl(${hue},30%,94%)"/><path fill="hsl(${hue},55%,45%)" d="${squares.join('')}"/></svg>`
}

const safe = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'X-Content-Type-Options': 'nosniff',
}

type Stored = {
  readonly type: string
  readonly tag: string
  readonly bytes: Uint8Array<ArrayBuffer> | null
}

/**
 * Where pictures are: null where a user has none, `NOT_FOUND` where there is no such user, and without its bytes
 * where the caller has that ETag.
 */
export type Pictures = (
  core: Core,
  id: number,
  isKnown: (tag: string) => boolean,
  after: string | undefined,
) => Stored | null | Promise<Stored | null>

/** The read of avatars; anyone may, as anyone may see who wrote a post. */
export const avatarRead = (pictureOf: Pictures): Extra => ({
  method: 'GET',
  path: '/users/:id/avatar',
  serve:
    ({ core, edge }) =>
    (c, _viewer, named) => {
      const id = pathId(c, 'id', 'user')
      const sent = header(c, 'if-none-match')
      return after(
        pictureOf(core, id, tag => isNotModified(sent, tag), positionOf(c)),
        stored => {
          const facts = { named, isPublic: true, type: stored?.type ?? 'image/svg+xml' }
          const { headers, ...reply } = stored
            ? representAs(c, edge, stored.bytes, stored.tag, facts)
            : represent(c, edge, identicon(id), facts)
          return { ...reply, headers: { ...headers, ...safe } }
        },
      )
    },
})
