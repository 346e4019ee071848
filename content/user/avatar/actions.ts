/** Putting and removing a user's picture. */
import { hash } from 'node:crypto'
import {
  type Action,
  ApiError,
  allowedTags,
  changedSince,
  comma,
  commandOf,
  excludedTags,
  type Given,
  type GuardedStep,
  isOfRow,
  join,
  mismatchOf,
  notFound,
  type Sql,
  sql,
  stillThat,
  textTag,
} from 'duet/actions'
import { versions } from '../../versions.ts'
import { user } from '../entity.ts'
import { identicon, pictureType, pictureTypes } from './entity.ts'

/** The largest picture, in bytes. */
const largestPicture = 512 * 1024

const picture = { type: 'string', format: 'binary' } as const

const common = {
  rule: user.policy.update,
  path: '/users/:id/avatar',
  about: 'user',
  answers: null,
  ownTag: true,
} as const

type Preconditions = Pick<Given, 'id' | 'ifMatch' | 'ifNoneMatch'>

/** Whether a stored picture is one of these, as a condition on its row. */
const isStored = (tags: readonly string[]): Sql => {
  const digests = tags.map(tag => tag.slice(1, -1))
  return tags.length > 0 ? sql`avatars.digest in (${join(digests, comma)})` : sql`false`
}

/** The stored pictures that `If-Match` lets a write replace. */
const isMatched = ({ ifMatch }: Preconditions): Sql => {
  const tags = allowedTags(ifMatch)
  return tags === undefined || tags === 'any' ? sql`true` : isStored(tags)
}

/** The stored pictures that the headers let a write replace. */
const isAllowed = (given: Preconditions): Sql => {
  const tags = excludedTags(given.ifNoneMatch)
  if (tags === 'any') return sql`false`
  return sql`${isMatched(given)} and not ${isStored(tags ?? [])}`
}

/** Whether the headers let a write replace the drawn picture of a user who has none stored. To `If-None-Match: *` it is none. */
const isDrawnAllowed = ({ id, ifMatch, ifNoneMatch }: Preconditions): boolean => {
  const [allowed = 'any', excluded = 'any'] = [allowedTags(ifMatch), excludedTags(ifNoneMatch)]
  if (allowed === 'any' && excluded === 'any') return true
  const drawn = identicon(id)
  const tags = [...versions.inPlainJson.values()].map(version => textTag(drawn, version))
  const isIn = (listed: readonly string[]) => tags.some(tag => listed.includes(tag))
  return (allowed === 'any' || isIn(allowed)) && (excluded === 'any' || !isIn(excluded))
}

/** The error if the headers do not let a write replace the present picture. */
const refusedPicture = ({ ifMatch, ifNoneMatch }: Preconditions, wasMatched: boolean) =>
  wasMatched && ifNoneMatch !== undefined
    ? stillThat('avatar')
    : changedSince(
        'avatar',
        mismatchOf(ifMatch ?? '*', 'avatar', tag => !isOfRow(tag)),
      )

/** Puts a picture; one statement compares the preconditions and stores it. */
const put: Action = {
  ...common,
  method: 'PUT',
  name: 'change avatars',
  bytes: largestPicture,
  described: {
    operationId: 'putUserAvatar',
    summary: 'Put the picture of a user',
    description: 'PNG, JPEG, WebP or GIF up to 512 KiB, recognised by its bytes.',
    body: Object.fromEntries(pictureTypes.map(type => [type, { schema: picture }])),
  },
  command: (writing, given) => {
    const { id, bytes, now } = given
    const type = pictureType(bytes)
    if (!type)
      throw new ApiError(
        'UNSUPPORTED_MEDIA_TYPE',
        'The body must be a PNG, JPEG, WebP or GIF picture',
        { headers: { Accept: pictureTypes.join(', ') } },
      )
    const digest = hash('sha256', bytes, 'base64url').slice(0, 22)
    const stored = isAllowed(given)
    const keep = isDrawnAllowed(given)
      ? sql`insert into avatars (user_id, type, digest, created_at, bytes)
          values (${id}, ${type}, ${digest}, ${now}, ${bytes})
          on conflict (user_id) do update set type = excluded.type, digest = excluded.digest,
            created_at = excluded.created_at, bytes = excluded.bytes
          where ${stored} returning id`
      : sql`update avatars set type = ${type}, digest = ${digest}, created_at = ${now}, bytes = ${bytes}
          where user_id = ${id} and ${stored} returning id`
    const steps = [
      {
        sql: keep,
        explain: sql`select ${isMatched(given)} from avatars where user_id = ${id}`,
        refused: ([row]) =>
          refusedPicture(
            given,
            row ? !!row[0] : isDrawnAllowed({ ...given, ifNoneMatch: undefined }),
          ),
      } satisfies GuardedStep,
    ]
    return commandOf(writing, { name: 'put avatar', steps, status: 204 })
  },
}

/** Removes the stored picture; the drawn one is shown from then on. */
const remove: Action = {
  ...common,
  method: 'DELETE',
  name: 'remove avatars',
  admin: { label: 'Remove the picture', danger: true, bulk: false },
  described: { operationId: 'removeUserAvatar', summary: 'Remove the picture of a user' },
  command: (writing, given) => {
    const { id } = given
    const step: GuardedStep = {
      sql: sql`delete from avatars where user_id = ${id} and ${isAllowed(given)} returning id`,
      explain: sql`select ${isMatched(given)} from avatars where user_id = ${id}`,
      refused: ([row]) => (row ? refusedPicture(given, !!row[0]) : notFound('avatar', id)),
    }
    return commandOf(writing, { name: 'remove avatar', steps: [step], status: 204 })
  },
}

export const avatarActions: readonly Action[] = [put, remove]
