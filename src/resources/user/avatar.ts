/** A user's picture: kept as it was sent, recognised by its bytes, gone with its user. */
import { hash } from 'node:crypto'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import { entity as describe } from '#model/entity.ts'
import { bytes, choice, created, id, internal, reference, text } from '#model/field.ts'
import { columnName, notFound } from '#model/model.ts'
import { refusal } from '#model/policy.ts'
import { user } from '#resources/user/entity.ts'
import type { Position, Row, Work } from '#sql/engine.ts'
import { and, bind, comma, join, name, type Sql, sql, statement } from '#sql/sql.ts'
import type { Action } from '#write/action.ts'
import { conditionOf, guarded, ready, standingOf, type Writing } from '#write/derived.ts'

/** The types that are kept, each with how its files begin: `.` stands for any byte. */
const signatures = {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a PNG begins with just these.
  'image/png': /^\x89PNG\r\n\x1a\n\0\0\0\rIHDR/,
  'image/jpeg': /^\xff\xd8\xff[\xc0-\xfe]/,
  'image/webp': /^RIFF.{4}WEBPVP8[ LX]/s,
  'image/gif': /^GIF8[79]a.{4}/s,
} as const

export type PictureType = keyof typeof signatures

const types = Object.keys(signatures) as PictureType[]

/** The type of a picture by its first bytes, whatever it is called; undefined for all that is none. */
export const pictureType = (picture: Uint8Array): PictureType | undefined => {
  const { buffer, byteOffset, length } = picture
  const start = Buffer.from(buffer, byteOffset, Math.min(length, 32)).toString('latin1')
  return types.find(type => signatures[type].test(start))
}

export const avatar = describe({
  table: 'avatars',
  plural: 'avatars',
  description: 'The picture of a user.',
  fields: {
    id: id(internal),
    userId: reference('user', { ...internal, unique: 'CONFLICT' }),
    type: choice(types, internal),
    // What its ETag is made of, so that the bytes need not be read for a 304.
    digest: text({ ...internal, max: 64 }),
    createdAt: created(internal),
    bytes: bytes(internal),
  },
  policy: {},
  rest: { list: false, one: false, listing: { paging: 'cursor', limit: 20 } },
  graphql: { type: false },
})

const table = name(avatar.table)
const users = name(user.table)
const column = (field: string) => name(columnName(field))

/** The largest picture, in bytes. */
export const largestPicture = 512 * 1024

const unrecognised = () =>
  new ApiError('UNSUPPORTED_MEDIA_TYPE', 'The body must be a PNG, JPEG, WebP or GIF picture')

/** The condition that the user is there and is the viewer's own, or an admin asks. */
const mayChange = (writing: Writing, id: number): Sql => {
  const mine = conditionOf(writing, 'user', user.policy.update)
  return sql`exists (select 1 from ${users} where ${and([sql`${name('id')} = ${bind(id)}`, mine])})`
}

/** What to look at when nothing was changed, and which error that was: there must be the user, then the right. */
const explained = (writing: Writing, id: number, otherwise: () => ApiError) => ({
  explain: ready(
    sql`select ${conditionOf(writing, 'user', user.policy.update)} from ${users} where ${name('id')} = ${bind(id)}`,
    writing,
  ),
  refused: ([row]: readonly Row[]): ApiError => {
    if (!row) return notFound('user', id)
    return row[0] ? otherwise() : refusal(writing.viewer, 'change this user')
  },
})

const put: Action = {
  method: 'PUT',
  name: 'change avatars',
  rule: user.policy.update,
  path: '/users/:id/avatar',
  about: 'user',
  answers: null,
  bytes: largestPicture,
  standing: (writing, id) => standingOf(writing, { entity: 'user', id }, 'update'),
  command: (writing, { id, bytes: picture, now }) => {
    const type = pictureType(picture)
    if (!type) throw unrecognised()
    const { typed } = writing.dialect
    const values = [
      typed(bind(id), 'id'),
      typed(bind(type), 'text'),
      typed(bind(hash('sha256', picture, 'base64url').slice(0, 22)), 'text'),
      typed(bind(now), 'time'),
      typed(bind(picture), 'bytes'),
    ]
    const columns = ['userId', 'type', 'digest', 'createdAt', 'bytes'].map(column)
    const fresh = columns.slice(1).map(own => sql`${own} = excluded.${own}`)
    const { explain, refused } = explained(writing, id, () => new ApiError('CONFLICT'))
    const keep = sql`insert into ${table} (${join(columns, comma)}) select ${join(values, comma)}
      where ${mayChange(writing, id)}
      on conflict (${column('userId')}) do update set ${join(fresh, comma)} returning ${name('id')}`
    const step = { statement: ready(keep, writing), expect: 'row', explain } as const
    return guarded(writing, false, 'put avatar', [{ step, refused }], { status: 204 })
  },
}

const remove: Action = {
  method: 'DELETE',
  name: 'remove avatars',
  rule: user.policy.update,
  path: '/users/:id/avatar',
  about: 'user',
  answers: null,
  command: (writing, { id }) => {
    const { explain, refused } = explained(writing, id, () => notFound('avatar', id))
    const drop = sql`delete from ${table} where ${column('userId')} = ${bind(id)}
      and ${mayChange(writing, id)} returning ${name('id')}`
    const step = { statement: ready(drop, writing), expect: 'row', explain } as const
    return guarded(writing, false, 'remove avatar', [{ step, refused }], { status: 204 })
  },
}

export const avatarActions: readonly Action[] = [put, remove]

/** What is stored for a user: nothing, or a picture; `bytes` is null where the caller has it already. */
export type Stored = {
  readonly type: PictureType
  readonly tag: string
  readonly bytes: Uint8Array<ArrayBuffer> | null
}

/**
 * The picture of a user, null where none is stored; throws `NOT_FOUND` where there is no such user.
 * `isKnown` tells by its ETag whether the caller has it: then its bytes are not read.
 */
export const pictureOf = (
  { reader, dialect }: Core,
  id: number,
  isKnown: (tag: string) => boolean,
  after: Position | undefined,
): Stored | null | Promise<Stored | null> => {
  const query = (piece: Sql) => ({ text: statement(piece, dialect.placeholder).text, values: [id] })
  const found = sql`select ${column('type')}, ${column('digest')} from ${users} as ${name('u')}
    left join ${table} as ${name('a')} on ${name('a')}.${column('userId')} = ${name('u')}.${name('id')}
    where ${name('u')}.${name('id')} = ${bind(id)}`
  const whole = sql`select ${column('bytes')} from ${table} where ${column('userId')} = ${bind(id)}`
  const work = function* (): Work<Stored | null> {
    const [row] = yield query(found)
    if (!row) throw notFound('user', id)
    const [type, digest] = row
    if (type == null) return null
    const tag = `"${digest}"`
    if (isKnown(tag)) return { type: type as PictureType, tag, bytes: null }
    const [kept] = yield query(whole)
    return {
      type: type as PictureType,
      tag,
      bytes: (kept?.[0] ?? null) as Uint8Array<ArrayBuffer> | null,
    }
  }
  return reader.snapshot(work, after)
}
