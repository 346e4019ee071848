/** Putting and removing a user's picture. */
import { hash } from 'node:crypto'
import { pictureType, pictureTypes } from '#content/user/avatar/entity.ts'
import { identicon } from '#content/user/avatar/identicon.ts'
import { user } from '#content/user/entity.ts'
import { userPrecheck } from '#content/user/steps.ts'
import { ApiError } from '#errors.ts'
import { allowedTags, isOfRow, mismatchOf } from '#http/conditional.ts'
import { notFound } from '#model/model.ts'
import { versions } from '#model/version.ts'
import { tagOf } from '#rest/represent.ts'
import { comma, join, type Sql, sql } from '#sql/sql.ts'
import type { Action } from '#write/action.ts'
import { changedSince, targetSteps } from '#write/derived.ts'
import { commandOf, type GuardedStep } from '#write/steps.ts'

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

/** Which stored pictures `If-Match` lets a write take the place of, as a condition on their row. */
const isAllowed = (ifMatch: string | undefined): Sql => {
  const tags = allowedTags(ifMatch)
  if (tags === undefined || tags === 'any') return sql`true`
  const digests = tags.map(tag => tag.slice(1, -1))
  return tags.length > 0 ? sql`avatars.digest in (${join(digests, comma)})` : sql`false`
}

/** Whether `If-Match` lets a write take the place of the picture that is drawn where none is stored. */
const isDrawnAllowed = (id: number, ifMatch: string | undefined): boolean => {
  const tags = allowedTags(ifMatch)
  if (tags === undefined || tags === 'any') return true
  const drawn = identicon(id)
  return versions.some(version => tags.includes(tagOf(drawn, undefined, version)))
}

/** The error where `If-Match` does not name the picture that there is. */
const otherPicture = (ifMatch: string | undefined) =>
  changedSince(
    'avatar',
    mismatchOf(ifMatch ?? '*', 'avatar', tag => !isOfRow(tag)),
  )

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
  precheck: userPrecheck,
  command: (writing, { id, bytes, ifMatch, now }) => {
    const type = pictureType(bytes)
    if (!type)
      throw new ApiError(
        'UNSUPPORTED_MEDIA_TYPE',
        'The body must be a PNG, JPEG, WebP or GIF picture',
      )
    const digest = hash('sha256', bytes, 'base64url').slice(0, 22)
    const stored = isAllowed(ifMatch)
    const keep = isDrawnAllowed(id, ifMatch)
      ? sql`insert into avatars (user_id, type, digest, created_at, bytes)
          values (${id}, ${type}, ${digest}, ${now}, ${bytes})
          on conflict (user_id) do update set type = excluded.type, digest = excluded.digest,
            created_at = excluded.created_at, bytes = excluded.bytes
          where ${stored} returning id`
      : sql`update avatars set type = ${type}, digest = ${digest}, created_at = ${now}, bytes = ${bytes}
          where user_id = ${id} and ${stored} returning id`
    const steps = [
      ...targetSteps(writing, { entity: 'user', id }, 'update'),
      { sql: keep, refused: () => otherPicture(ifMatch) },
    ]
    return commandOf(writing, { name: 'put avatar', steps, status: 204 })
  },
}

const remove: Action = {
  ...common,
  method: 'DELETE',
  name: 'remove avatars',
  described: { operationId: 'removeUserAvatar', summary: 'Remove the picture of a user' },
  command: (writing, { id, ifMatch }) => {
    const step: GuardedStep = {
      sql: sql`delete from avatars where user_id = ${id} and ${isAllowed(ifMatch)} returning id`,
      explain: sql`select id from avatars where user_id = ${id}`,
      refused: ([row]) => (row ? otherPicture(ifMatch) : notFound('avatar', id)),
    }
    const steps = [...targetSteps(writing, { entity: 'user', id }, 'update'), step]
    return commandOf(writing, { name: 'remove avatar', steps, status: 204 })
  },
}

export const avatarActions: readonly Action[] = [put, remove]
