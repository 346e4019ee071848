/** Liking and unliking a comment: both may be repeated any number of times. */

import { type Action, insert, remove } from 'duet/actions'
import { signedIn } from 'duet/model'
import { like as entity } from './entity.ts'

/** Likes a comment as the viewer. */
const like: Action = {
  method: 'POST',
  name: 'like comments',
  rule: entity.policy.create,
  path: '/comments/:id/likes',
  about: 'comment',
  answers: 'like',
  described: {
    operationId: 'likeComment',
    summary: 'Like a comment',
    description: 'May be repeated.',
    success: { 200: 'It was liked before.', 201: 'It is liked.' },
  },
  steps: ({ id, viewer }) => [insert('like', { userId: viewer, commentId: id }, { once: true })],
}

/** Takes the viewer's like back. */
const unlike: Action = {
  method: 'DELETE',
  name: 'unlike comments',
  rule: signedIn,
  path: '/comments/:id/likes',
  about: 'comment',
  answers: null,
  described: {
    operationId: 'unlikeComment',
    summary: 'Take a like back',
    description: 'May be repeated.',
  },
  steps: ({ id, viewer }) => [remove('like', { where: { userId: viewer, commentId: id } })],
}

export const likeActions: readonly Action[] = [like, unlike]
