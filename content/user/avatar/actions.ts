/** Putting and removing a user's picture. */
import { hash } from 'node:crypto'
import { pictureType, pictureTypes } from '#content/user/avatar/entity.ts'
import { user } from '#content/user/entity.ts'
import { userPrecheck } from '#content/user/steps.ts'
import { ApiError } from '#errors.ts'
import { notFound } from '#model/model.ts'
import { sql } from '#sql/sql.ts'
import type { Action } from '#write/action.ts'
import { targetSteps } from '#write/derived.ts'
import { commandOf } from '#write/steps.ts'

/** The largest picture, in bytes. */
const largestPicture = 512 * 1024

const picture = { type: 'string', format: 'binary' } as const

const common = {
  rule: user.policy.update,
  path: '/users/:id/avatar',
  about: 'user',
  answers: null,
} as const

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
  command: (writing, { id, bytes, now }) => {
    const type = pictureType(bytes)
    if (!type)
      throw new ApiError(
        'UNSUPPORTED_MEDIA_TYPE',
        'The body must be a PNG, JPEG, WebP or GIF picture',
      )
    const digest = hash('sha256', bytes, 'base64url').slice(0, 22)
    const keep = sql`insert into avatars (user_id, type, digest, created_at, bytes)
      values (${id}, ${type}, ${digest}, ${now}, ${bytes})
      on conflict (user_id) do update set type = excluded.type, digest = excluded.digest,
        created_at = excluded.created_at, bytes = excluded.bytes
      returning id`
    const steps = [...targetSteps(writing, { entity: 'user', id }, 'update'), { sql: keep }]
    return commandOf(writing, { name: 'put avatar', steps, status: 204 })
  },
}

const remove: Action = {
  ...common,
  method: 'DELETE',
  name: 'remove avatars',
  described: { operationId: 'removeUserAvatar', summary: 'Remove the picture of a user' },
  command: (writing, { id }) => {
    const drop = sql`delete from avatars where user_id = ${id} returning id`
    const steps = [
      ...targetSteps(writing, { entity: 'user', id }, 'update'),
      { sql: drop, refused: () => notFound('avatar', id) },
    ]
    return commandOf(writing, { name: 'remove avatar', steps, status: 204 })
  },
}

export const avatarActions: readonly Action[] = [put, remove]
