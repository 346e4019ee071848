/** A user's picture: stored as it was sent, recognised by its bytes, deleted with its user. */
import { entity } from '#model/entity.ts'
import { bytes, choice, created, id, internal, reference, text } from '#model/field.ts'

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
    userId: reference('user', { ...internal, unique: 'CONFLICT' }),
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
