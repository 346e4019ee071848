/** A user's picture: stored as it was sent, recognised by its bytes, deleted with its user; and the drawn one of a user who has put none. */
import { hash } from 'node:crypto'
import { bytes, choice, created, entity, id, internal, reference, text } from 'duet/model'

/** The types that are accepted, each with the first bytes of its files: `.` stands for any byte. */
const signatures = {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a PNG begins with just these.
  'image/png': /^\x89PNG\r\n\x1a\n\0\0\0\rIHDR/,
  'image/jpeg': /^\xff\xd8\xff[\xc0-\xfe]/,
  'image/webp': /^RIFF.{4}WEBPVP8[ LX]/s,
  'image/gif': /^GIF8[79]a.{4}/s,
} as const

export type PictureType = keyof typeof signatures

/** The media types of pictures. */
export const pictureTypes = Object.keys(signatures) as readonly PictureType[]

/** The type of a picture by its first bytes; undefined for any other file. */
export const pictureType = (picture: Uint8Array): PictureType | undefined => {
  const { buffer, byteOffset, length } = picture
  const start = Buffer.from(buffer, byteOffset, Math.min(length, 32)).toString('latin1')
  return pictureTypes.find(type => signatures[type].test(start))
}

export const avatar = entity({
  table: 'avatars',
  plural: 'avatars',
  description: 'The picture of a user.',
  fields: {
    id: id(internal),
    userId: reference('user', { ...internal, unique: 'CONFLICT', onDelete: 'cascade' }),
    type: choice(pictureTypes, internal),
    // Its ETag, so that the bytes need not be read for a 304.
    digest: text({ ...internal, max: 64 }),
    createdAt: created(internal),
    bytes: bytes(internal),
  },
  policy: {},
  rest: { list: false, one: false, listing: { paging: 'cursor', limit: 20 } },
  graphql: { type: false },
})

const cells = 5

/** The picture of a user who has put none: an SVG of five by five cells, mirrored, drawn from the id so that it never changes. */
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
