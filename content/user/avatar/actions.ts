/** Putting and removing a user's picture, which is stored as it was sent. */
import { type Action, commandOf, giveFile, textTag } from 'duet/actions'
import { versions } from '../../versions.ts'
import { user } from '../entity.ts'
import { identicon, largestPicture, pictureTypes } from './picture.ts'

const picture = { type: 'string', format: 'binary' } as const

const common = {
  rule: user.policy.update,
  path: '/users/:id/avatar',
  about: 'user',
  answers: null,
  ownTag: true,
} as const

const avatar = { entity: 'user', field: 'avatar' } as const

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
  command: async (writing, given) => {
    const { id, bytes, services } = given
    const file = await services.keepFile({ bytes, type: pictureTypes, name: 'avatar' })
    const instead = () =>
      [...versions.inPlainJson.values()].map(version => textTag(identicon(id), version))
    const steps = [giveFile(writing, given, { ...avatar, file, instead })]
    return commandOf(writing, { name: 'put avatar', steps, status: 204 })
  },
}

/** Removes the stored picture; the drawn one is shown from then on. */
const remove: Action = {
  ...common,
  method: 'DELETE',
  name: 'remove avatars',
  // Its screens do not show whether there is a picture.
  admin: { hidden: true },
  described: { operationId: 'removeUserAvatar', summary: 'Remove the picture of a user' },
  command: (writing, given) => {
    const steps = [giveFile(writing, given, { ...avatar, file: null })]
    return commandOf(writing, { name: 'remove avatar', steps, status: 204 })
  },
}

export const avatarActions: readonly Action[] = [put, remove]
