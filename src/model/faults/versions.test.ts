/** What a model says wrongly of versions, each with the sentence that says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { many } from '#model/entity.ts'
import { choice, int, text, time } from '#model/field.ts'
import { nobody } from '#model/policy.ts'
import { versions } from '../../../test/support/library/versions.ts'
import {
  areTold,
  author,
  changed,
  faultsOf,
  former,
  linked,
  sunset,
  withFields,
  withMood,
} from '../../../test/support/model-faults.ts'

areTold({
  [`book.mood names version 99, which is not one of ${versions.all.join(', ')}: name one of these`]:
    withMood({ since: 99 as never }),
  'book.mood begins with version 2 and ends with version 1: change one of them': withMood({
    since: 2,
    last: 1,
    sunset,
  }),
  [`book.mood ends with version ${versions.newest}, the newest: leave last out, or name the version before`]:
    withMood({ last: versions.newest, sunset }),
  "book.mood ends with version 1 and has no sunset: say on which day it goes, like sunset: '2027-08-01'":
    withMood({ last: 1 }),
  'book.mood has the sunset 2027-02-29, which is not a day: write it like 2027-08-01': withMood({
    last: 1,
    sunset: '2027-02-29',
  }),
  'book.mood has the day of deprecation soon, which is not a day: write it like 2027-08-01':
    withMood({ deprecated: { reason: 'Use genre.', on: 'soon' } }),
  'book.mood is deprecated on 2027-08-31 and goes on 2028-02-28, less than 6 months later: choose 2028-02-29 or a later day':
    withMood({ last: 1, sunset: '2028-02-28', deprecated: { reason: 'x', on: '2027-08-31' } }),
  "book.mood is deprecated without a reason: say what to use in its place, like 'Use title.'":
    withMood({ deprecated: ' ' }),
  "the relation books of author ends with version 1 and has no sunset: say on which day it goes, like sunset: '2027-08-01'":
    {
      others: {
        author: changed(author, { relations: { books: many('book', 'authorId', { last: 1 }) } }),
      },
    },
  [`the route update of book ends with version ${versions.newest}, the newest: leave last out, or name the version before`]:
    { rest: { lifetimes: { update: { last: versions.newest } } } },
  [`the REST API of book names version 0, which is not one of ${versions.all.join(', ')}: name one of these`]:
    { rest: { lifetimes: { all: { since: 0 as never } } } },
  [`the embedded books of author ends with version ${versions.newest}, the newest: leave last out, or name the version before`]:
    {
      others: {
        author: changed(author, {
          rest: { embedded: { books: { after: 'name', last: versions.newest } } },
        }),
      },
    },
  "the filter by of book ends with version 1 and has no sunset: say on which day it goes, like sunset: '2027-08-01'":
    { listing: { filters: { by: { kind: 'equals', field: 'authorId', last: 1 } } } },
  "the sort of book by title ends with version 1 and has no sunset: say on which day it goes, like sunset: '2027-08-01'":
    {
      listing: {
        sort: { style: 'field and order', fields: ['title'], lifetimes: { title: { last: 1 } } },
      },
    },
  [`the link author of book ends with version ${versions.newest}, the newest: leave last out, or name the version before`]:
    linked({
      self: { href: '/books/{id}' },
      author: { href: '/authors/{authorId}', last: versions.newest },
    }),
  'the first link of book, self, is not in every version: put one first that is always there, such as self':
    linked({ self: { href: '/books/{id}', since: 2 } }),
  [`book.mood differs until version 99, which is not a former version: name one of ${former}`]:
    withMood({ until: { 99: { name: 'x' } } as never }),
  [`book.mood differs until version ${versions.newest}, which is not a former version: name one of ${former}`]:
    withMood({ until: { [versions.newest]: { name: 'x' } } }),
  'book.mood differs until version 1, which does not have it: leave that out, or change its since or last':
    withMood({ since: 2, until: { 1: { name: 'humour' } } }),
  'book.mood differs until version 1 in nothing: give it a name or a form there': withMood({
    until: { 1: {} },
  }),
  'book.mood is called the mood until version 1: use letters, digits and _': withMood({
    until: { 1: { name: 'the mood' } },
  }),
  [`book.mood differs from version 99 on, which is not one of ${versions.all.join(', ')}: name one of these`]:
    withMood({ from: { 99: { name: 'x' } } as never }),
  'book.mood differs from version 2 on, which does not have it: leave that out, or change its since or last':
    withMood({ last: 1, sunset, from: { 2: { name: 'humour' } } }),
  'book.mood differs from version 1 on, and until version 1: name a later version in from, or an earlier one in until':
    withMood({ until: { 1: { name: 'humour' } }, from: { 1: { name: 'temper' } } }),
  'book.mood differs from version 2 on in nothing: give it a name or a form there': withMood({
    from: { 2: {} },
  }),
  'book.mood is called the mood from version 2 on: use letters, digits and _': withMood({
    from: { 2: { name: 'the mood' } },
  }),
  'book has two members called title in version 2 of the REST API: rename one of them': withMood({
    from: { 2: { name: 'title' } },
  }),
  'book.mood in version 2 is written there in a form that cannot be turned back, and callers may give it: use another form, or let only the service set it':
    withMood({ from: { 2: { form: { values: { glad: 'sad' } } } } }),
  'book.mood in version 1 is as text, which it cannot be since it is text: use it for int or money or decimal':
    withFields({ mood: text({ max: 9, until: { 1: { form: 'as text' } } }) }),
  'book.mood in version 1 is as seconds, which it cannot be since it is int: use it for time':
    withFields({ mood: int({ min: 0, max: 9, until: { 1: { form: 'as seconds' } } }) }),
  'book.mood in version 1 has other values, and is not a choice: make it one, or leave the form out':
    withFields({ mood: text({ max: 9, until: { 1: { form: { values: {} } } } }) }),
  'book.mood in version 1 has another word for angry, which it never is: name some of glad, sad':
    withMood({ until: { 1: { form: { values: { angry: 'cross' } } } } }),
  'book.mood in version 1 is written there in a form that cannot be turned back, and callers may give it: use another form, or let only the service set it':
    [
      // A form that cannot be turned back in an input.
      withMood({ until: { 1: { form: { values: { glad: 'sad' } } } } }),
      // Seconds in an input.
      withFields({ mood: time({ nullable: true, until: { 1: { form: 'as seconds' } } }) }),
    ],
  'book.mood in version 1 is written there in a form that cannot be turned back, and a filter compares it: use another form, or give the filter since: 2':
    {
      ...withMood({ settableBy: nobody, until: { 1: { form: { values: { glad: 'sad' } } } } }),
      listing: { filters: { mood: { kind: 'equals', field: 'mood' } } },
    },
  'book.mood in version 1 is written there in a form of another order, and lists are sorted or ranged by it: use another form, or give the sort or filter since: 2':
    {
      ...withMood({ until: { 1: { form: { values: { glad: 'zealous' } } } } }),
      listing: { sort: { style: 'signed list', fields: ['-mood'] } },
    },
  'book.pages in version 1 is written there in a form of another order, and lists are sorted or ranged by it: use another form, or give the sort or filter since: 2':
    {
      ...withFields({
        pages: int({ min: 0, max: 99, nullable: true, until: { 1: { form: 'as text' } } }),
      }),
      listing: { filters: { least: { kind: 'at least', field: 'pages' } } },
    },
  'book.mood is needed by a create and not in version 1, which has one: give mood an initial value':
    [
      // A needed field that the create of a version does not know.
      withFields({ mood: choice(['glad', 'sad'], { since: 2 }) }),
      // A needed field that the nested create of a version does not know.
      {
        ...withFields({ mood: choice(['glad', 'sad'], { since: 2 }) }),
        rest: { writes: ['update'] },
      },
    ],
  'the route nested one of book is below a list that no version has with it: change since or last of one of them':
    {
      rest: { lifetimes: { 'nested one': { since: 2 } } },
      others: {
        author: changed(author, {
          relations: { books: many('book', 'authorId', { last: 1, sunset }) },
        }),
      },
    },
})

test('what a version does not know may be needed where that version has no create, below a list neither', () => {
  const mood = withFields({ mood: choice(['glad', 'sad'], { since: 2 }) })
  const rest = { writes: ['update'], nested: ['one'] } as const
  assert.deepEqual(faultsOf({ ...mood, rest }), [])
})
