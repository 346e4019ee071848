/** Liking and unliking a comment: both may be said any number of times. */
import { columnName, notFound } from '#model/model.ts'
import { like as entity } from '#resources/like/entity.ts'
import { bind, name, sql } from '#sql/sql.ts'
import type { Action } from '#write/action.ts'
import { guarded, ready } from '#write/derived.ts'

const table = name(entity.table)
const user = name(columnName('userId'))
const comment = name(columnName('commentId'))
const created = name(columnName('createdAt'))
const comments = name('comments')

const like: Action = {
  method: 'POST',
  name: 'like comments',
  rule: entity.policy.create,
  path: '/comments/:id/likes',
  about: 'comment',
  answers: 'like',
  command: (writing, { id, now }) => {
    const viewer = bind(writing.viewer.id)
    const put = sql`insert into ${table} (${user}, ${comment}, ${created})
      select ${writing.dialect.typed(viewer, 'id')}, ${writing.dialect.typed(bind(id), 'id')}, ${writing.dialect.typed(bind(now), 'time')}
      where exists (select 1 from ${comments} where ${name('id')} = ${bind(id)})
      on conflict do nothing returning ${name('id')}`
    const found = sql`select ${name('id')} from ${table} where ${user} = ${viewer} and ${comment} = ${bind(id)}`
    return guarded(
      writing,
      true,
      'like comment',
      [
        { step: { statement: ready(put, writing), expect: 'any' } },
        {
          step: { statement: ready(found, writing), expect: 'row' },
          refused: () => notFound('comment', id),
        },
      ],
      { status: { step: 0, some: 201, none: 200 } },
    )
  },
}

const unlike: Action = {
  method: 'DELETE',
  name: 'unlike comments',
  rule: entity.policy.delete,
  path: '/comments/:id/likes',
  about: 'comment',
  answers: null,
  command: (writing, { id }) => {
    const gone = sql`delete from ${table} where ${user} = ${bind(writing.viewer.id)} and ${comment} = ${bind(id)}`
    const found = sql`select 1 from ${comments} where ${name('id')} = ${bind(id)}`
    return guarded(
      writing,
      true,
      'unlike comment',
      [
        { step: { statement: ready(gone, writing), expect: 'any' } },
        {
          step: { statement: ready(found, writing), expect: 'row' },
          refused: () => notFound('comment', id),
        },
      ],
      { status: 204 },
    )
  },
}

export const likeActions: readonly Action[] = [like, unlike]
