/** Embedded rows that an answer could not have, each with the sentence that says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { many, one } from '#model/entity.ts'
import { reference, text } from '#model/field.ts'
import { anyone, self, signedIn } from '#model/policy.ts'
import {
  areTold,
  author,
  book,
  changed,
  closed,
  faultsOf,
} from '../../../test/support/model-faults.ts'
import { admin } from '../../../test/support/roles.ts'

areTold({
  "rest.embedded of book has author, which leads to one row, and only lists are embedded: name a relation many('…', …), or leave it out":
    { rest: { embedded: { author: { after: 'title' } } } },
  'rest.embedded of book has pages, which is not a relation: name one': {
    rest: { embedded: { pages: { after: 'title' } } },
  },
  'rest.embedded of book has author after mood, which is not a field that the REST API shows: name one':
    { rest: { embedded: { author: { after: 'mood' } } } },
  'rest.embedded of author has books by authorId, which not everybody may read: leave it out, or change the rule of authorId':
    {
      fields: {
        ...book.fields,
        authorId: reference('author', { onDelete: 'cascade', readableBy: { inPrint: true } }),
      },
      others: {
        author: changed(author, {
          relations: { books: many('book', 'authorId', { description: '' }) },
          rest: { embedded: { books: { after: 'name' } } },
        }),
      },
    },
  'rest.embedded of book has author, and fewer may read authors than book, whose answers have them: leave it out, give book an enter rule that is as strict, or change the read rule of author':
    [
      // An embedded relation to rows that fewer may read than the object.
      {
        rest: { embedded: { author: { after: 'title' } } },
        others: { author: changed(author, { policy: { read: signedIn } }) },
      },
      // An embedded relation to a reader's own rows, in an object that is the same for all.
      {
        rest: { embedded: { author: { after: 'title' } } },
        others: { author: changed(author, { policy: { read: self('id') } }) },
      },
      // An embedded relation to rows that owners of the object may not read.
      {
        policy: { ...book.policy, read: self('authorId') },
        rest: { embedded: { author: { after: 'title' } } },
        others: { author: changed(author, { policy: { read: admin } }) },
      },
    ],
  'rest.embedded of book has author.teacher, and fewer may read teachers than book, whose answers have them: leave it out, give book an enter rule that is as strict, or change the read rule of teacher':
    {
      rest: { embedded: { author: { after: 'title' } } },
      others: {
        teacher: changed(author, {
          table: 'teachers',
          plural: 'teachers',
          fields: { ...author.fields, pupilId: reference('author', { onDelete: 'cascade' }) },
          relations: {},
          policy: { read: signedIn },
        }),
        author: changed(author, {
          relations: { ...author.relations, teacher: many('teacher', 'pupilId', { rest: false }) },
          policy: { read: anyone, enter: signedIn },
          rest: { embedded: { teacher: { after: 'name' } } },
        }),
      },
    },
  "teacher.note may be read by fewer than book, whose answers have it: make it rest: false, give book an enter rule that is as strict, or change the field's rule to one by row, which gives others null":
    {
      rest: { embedded: { author: { after: 'title' } } },
      others: {
        teacher: changed(author, {
          table: 'teachers',
          plural: 'teachers',
          fields: {
            ...author.fields,
            pupilId: reference('author', { onDelete: 'cascade' }),
            note: text({ max: 9, nullable: true, readableBy: signedIn }),
          },
          relations: {},
          policy: { read: anyone, enter: signedIn },
        }),
        author: changed(author, {
          relations: { ...author.relations, teacher: many('teacher', 'pupilId', { rest: false }) },
          policy: { read: anyone, enter: signedIn },
          rest: { embedded: { teacher: { after: 'name' } } },
        }),
      },
    },
  'rest.embedded of book leads back to book: leave one of the relations out': {
    fields: {
      ...book.fields,
      partOfId: reference('book', { onDelete: 'cascade', nullable: true }),
    },
    relations: { ...book.relations, partOf: one('book', 'partOfId') },
    rest: { embedded: { partOf: { after: 'title' } } },
  },
})

test('what is new may be embedded with rows of its owner, however many may create it', () => {
  const box = changed(closed, {
    table: 'boxes',
    plural: 'boxes',
    fields: {
      ...author.fields,
      ownerId: reference('author', { onDelete: 'cascade', initial: 'viewer' }),
    },
    relations: { things: many('thing', 'boxId', { rest: false }) },
    policy: { read: self('ownerId'), create: signedIn },
    rest: { writes: ['create'], embedded: { things: { after: 'name' } } },
  })
  const thing = changed(closed, {
    table: 'things',
    plural: 'things',
    fields: { ...author.fields, boxId: reference('box', { onDelete: 'cascade' }) },
    relations: { box: one('box', 'boxId') },
    policy: { read: self('box.ownerId') },
    rest: { list: false, one: false },
  })
  assert.deepEqual(faultsOf({}, { box, thing }), [])
})
