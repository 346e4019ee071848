/** Liking and unliking a comment: both may be repeated any number of times. */
import { like as entity } from '#content/like/entity.ts'
import { notFound } from '#model/model.ts'
import { sql } from '#sql/sql.ts'
import type { Action } from '#write/action.ts'
import { type Command, commandOf, type GuardedStep, type Writing } from '#write/command.ts'
import { noMembers } from '#write/input.ts'

/** Finds the comment, which must be there. */
const commentStep = (id: number): GuardedStep => ({
  sql: sql`select 1 from comments where id = ${id}`,
  refused: () => notFound('comment', id),
})

/** Whether the comment exists and the viewer may like and unlike as itself. */
const precheck = (writing: Writing, id: number): Command =>
  commandOf(writing, { name: 'precheck like', asSelf: true, steps: [commentStep(id)] })

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
  precheck,
  command: (writing, { id, body, now }) => {
    noMembers(body)
    const { typed } = writing.dialect
    const viewer = writing.viewer.id
    const put = sql`insert into likes (user_id, comment_id, created_at)
      select ${typed(viewer, 'id')}, ${typed(id, 'id')}, ${typed(now, 'time')}
      where exists (select 1 from comments where id = ${id})
      on conflict do nothing returning id`
    // Of one that was taken back while `put` waited for it the snapshot still has the row, with a lower id.
    const find = sql`select id from likes where user_id = ${viewer} and comment_id = ${id}
      order by id desc limit 1`
    return commandOf(writing, {
      name: 'like comment',
      asSelf: true,
      // The like that `put` meets must not be taken back before `find` and the answer look for it.
      isolated: true,
      steps: [
        { name: 'put', sql: put, expect: 'any' },
        { name: 'find', sql: find, refused: () => notFound('comment', id) },
      ],
      status: { step: 'put', some: 201, none: 200 },
    })
  },
}

/** Takes the viewer's like back. */
const unlike: Action = {
  method: 'DELETE',
  name: 'unlike comments',
  rule: entity.policy.delete,
  path: '/comments/:id/likes',
  about: 'comment',
  answers: null,
  described: {
    operationId: 'unlikeComment',
    summary: 'Take a like back',
    description: 'May be repeated.',
  },
  precheck,
  command: (writing, { id }) => {
    const remove = sql`delete from likes where user_id = ${writing.viewer.id} and comment_id = ${id}`
    return commandOf(writing, {
      name: 'unlike comment',
      asSelf: true,
      steps: [{ sql: remove, expect: 'any' }, commentStep(id)],
      status: 204,
    })
  },
}

export const likeActions: readonly Action[] = [like, unlike]
