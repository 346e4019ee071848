/** Posts: drafts and archived ones are seen by their author and by editors only. */
import {
  anyone,
  choice,
  created,
  entity,
  fixed,
  folded,
  many,
  one,
  reference,
  signedIn,
  slug,
  text,
  time,
  updatedAt,
  viewer,
} from 'duet/model'
import { editor } from '../roles.ts'

/** The conditions of the rules here and of what belongs to a post. */
export const published = { status: 'published' } as const
export const own = { authorId: viewer } as const

export const post = entity({
  fields: {
    title: text({ max: 200, trimmed: true, description: 'Title, 1 to 200 characters.' }),
    slug: slug({ from: 'title', description: 'Its words for addresses.' }),
    body: text({ max: 100_000, description: 'Text, 1 to 100,000 characters.' }),
    status: choice(['draft', 'published', 'archived'], { ...fixed, initial: { value: 'draft' } }),
    authorId: reference('author', { onDelete: 'cascade', ...fixed, initial: 'viewer' }),
    publishedAt: time({ ...fixed, nullable: true, description: 'When it was published.' }),
    createdAt: created(),
    updatedAt: updatedAt(),
    titleKey: folded('title', { accents: 'ignored' }),
  },
  relations: {
    author: one('author', 'authorId', { description: 'Who wrote it.' }),
    tags: many('tag', { through: 'postTag', description: 'What it is about.' }),
    comments: many('comment', 'postId', { description: 'What others say of it, newest first.' }),
  },
  policy: {
    read: [anyone.where(published), signedIn.where(own), editor],
    create: signedIn,
    update: signedIn.where(own),
    delete: signedIn.where(own),
  },
})
