/** What becomes of a post: its author publishes it once, and may archive it then. */
import { type Action, change, defineErrors } from 'duet/actions'
import { signedIn } from 'duet/model'
import { own } from '../entities/post.ts'

export const errors = defineErrors({
  NOT_A_DRAFT: { status: 409, title: 'Only a draft is published' },
  NOT_PUBLISHED: { status: 409, title: 'Only a published post is archived' },
})

const ofPost = { method: 'POST', about: 'post', answers: 'post', graphql: true } as const

export const publish: Action = {
  ...ofPost,
  name: 'publish posts',
  path: '/posts/:id/publish',
  rule: signedIn.where(own),
  when: { status: 'draft' },
  otherwise: errors.NOT_A_DRAFT,
  admin: { label: 'Publish' },
  described: { operationId: 'publishPost', summary: 'Publish a post', errors: ['NOT_A_DRAFT'] },
  steps: ({ id, now }) => [change('post', id, { status: 'published', publishedAt: now })],
}

export const archive: Action = {
  ...ofPost,
  name: 'archive posts',
  path: '/posts/:id/archive',
  rule: signedIn.where(own),
  when: { status: 'published' },
  otherwise: errors.NOT_PUBLISHED,
  admin: { label: 'Archive' },
  described: { operationId: 'archivePost', summary: 'Archive a post', errors: ['NOT_PUBLISHED'] },
  steps: ({ id }) => [change('post', id, { status: 'archived' })],
}
