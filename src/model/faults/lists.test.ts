/** Lists, indexes and sets that no database could serve, each with the sentence that says so. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytes, choice, folded, int, internal, list, slug, text, webUrl } from '#model/field.ts'
import { signedIn } from '#model/policy.ts'
import { areTold, book, faultsOf, withFields } from '../../../test/support/model-faults.ts'

const long = 'c'.repeat(60)

/** Books with so many texts, all of which are searched. */
const searched = (count: number) => {
  const keys = Array.from({ length: count }, (_, n) => `text${'abcdefgh'[n]}`)
  return {
    fields: { ...book.fields, ...Object.fromEntries(keys.map(key => [key, text({ max: 9 })])) },
    search: Object.fromEntries(keys.map(key => [key, 1])),
  }
}

areTold({
  'the search of book has 8 fields, more than the 7 whose words fit in an index: leave some out':
    searched(8),
  'the filter mood of book is about mood, which is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { listing: { filters: { mood: { kind: 'equals', field: 'mood' } } } },
  'the filter cover of book is of the kind equals and about cover, which is bytes: name one that is id, text, int, money, decimal, date, time, flag':
    {
      ...withFields({ cover: bytes() }),
      listing: { filters: { cover: { kind: 'equals', field: 'cover' } } },
    },
  'the filter from of book is of the kind at least and about title, which is text: name one that is int, money, decimal, date, time':
    { listing: { filters: { from: { kind: 'at least', field: 'title' } } } },
  "the filter search of book is of the kind contains and about title, which is not folded: name a field made with folded('title', { indexed: true })":
    { listing: { filters: { search: { kind: 'contains', field: 'title' } } } },
  'the filter limit of book has a name that every list uses, or that is not a word: give it another one':
    { listing: { filters: { limit: { kind: 'equals', field: 'title' } } } },
  'book has the filterable mood, which is not a field or relation: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { filterable: ['title', 'mood'] },
  'book has the filterable cover, which is bytes: leave it out': {
    ...withFields({ cover: bytes() }),
    filterable: ['cover'],
  },
  'book has the field search, which is a parameter of lists: rename it, or name in filterable what callers may ask for, without it':
    withFields({ search: webUrl() }),
  'the GraphQL filter mood of book is not a field: name one of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { graphql: { filters: ['mood'] } },
  'the GraphQL filter cover of book is bytes, which nobody can give: leave it out': {
    ...withFields({ cover: bytes() }),
    graphql: { filters: ['cover'] },
  },
  'the GraphQL filter tags of book is list, which nobody can compare: leave it out': {
    ...withFields({ tags: list(text({ max: 9 }), { max: 9 }) }),
    graphql: { filters: ['tags'] },
  },
  'the GraphQL filter orderBy of book has the name of an argument that every list has: rename the field':
    { ...withFields({ orderBy: choice(['a']) }), graphql: { filters: ['orderBy'] } },
  'book has GraphQL filters and no list at the root: leave them out, or give it graphql.type and graphql.roots':
    { graphql: { roots: false } },
  'book has GraphQL mutations and no type: leave them out, or give it graphql.type': {
    graphql: { type: false, filters: [] },
  },
  'the sort of book by mood does not name a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { listing: { sort: { style: 'field and order', fields: ['mood'] } } },
  'the sort of book by -title does not name a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { listing: { sort: { style: 'field and order', fields: ['-title'] } } },
  "the filter q of book is of the kind contains and about plainKey, which no index finds: write folded('title', { indexed: true })":
    {
      ...withFields({ plainKey: folded('title') }),
      listing: { filters: { q: { kind: 'contains', field: 'plainKey' } } },
    },
  'the filter q of book is of the kind contains and about rank, which a search has for itself: rename the field':
    {
      ...withFields({ rank: folded('title', { indexed: true }) }),
      listing: { filters: { q: { kind: 'contains', field: 'rank' } } },
    },
  "the list of book goes by cursors, newest first, and has a sort: leave the sort out, or choose paging: 'page'":
    { listing: { paging: 'cursor', sort: { style: 'signed list', fields: ['title'] } } },
  'the sort of book by title is there twice: leave one out': {
    listing: { sort: { style: 'signed list', fields: ['title', 'title'] } },
  },
  'the list of book has the limit 101: give one of 1 to 100': { pageSize: 101 },
  'book is counted by editorId, which may be null: count by fields that always have a value': {
    counted: ['editorId'],
  },
  'book is counted by mood, which is not a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { counted: ['mood'] },
  'book is counted by genre twice: leave one out': { counted: ['genre', 'genre'] },
  'in book, the index of mood names mood, which is not a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { indexes: [['mood']] },
  'in book, the index of title, -title names a field twice: leave one out': {
    indexes: [['title', '-title']],
  },
  'book has one index for the field authorId and for the index of authorId: leave one of them out':
    { indexes: [['authorId']] },
  'in book, the sort by site needs an index of up to 8192 bytes a row, more than the 2600 that every database takes: let its text be shorter':
    {
      ...withFields({ site: webUrl({ nullable: true }) }),
      sorts: ['site'],
      listing: { sort: { style: 'signed list', fields: ['site'] } },
    },
  'book has a part of its table with a name of more than 63 letters, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb_by_created_at_in_print_genre_title: use shorter names':
    { table: 'b'.repeat(40), indexes: [['createdAt', 'inPrint', 'genre', 'title']] },
  [`book has a part of its table with a name of more than 63 letters, books_count_${long}: use shorter names`]:
    { ...withFields({ [long]: int({ min: 0, max: 9 }) }), counted: [long] },
  [`book has a part of its table with a name of more than 63 letters, books_${long}_search: use shorter names`]:
    withFields({ [long]: folded('title', { indexed: true }) }),
  'book has a set of one field, title: make it unique instead': {
    sets: [{ fields: ['title'], error: 'CONFLICT' }],
  },
  'in book, the set of title, mood names mood, which is not a field: name some of id, title, genre, authorId, editorId, inPrint, createdAt, revision':
    { sets: [{ fields: ['title', 'mood'], error: 'CONFLICT' }] },
  'the search of book names inPrint, which is no text of its own: name one of title, genre': {
    search: { inPrint: 1 },
  },
  'the search of book names name, which is no text of its own: name one of title, genre': {
    search: { name: 1 },
  },
  'the search of book gives title the weight 0.5: give it one of 1 to 100': {
    search: { title: 0.5 },
  },
  'the search of book names note, which fewer may read than its rows, and whose words they would know by the rows that are found: leave it out':
    { ...withFields({ note: text({ max: 9, readableBy: signedIn }) }), search: { note: 1 } },
  'the search of book names note, which no API shows, and whose words would be known by the rows that are found: leave it out':
    { ...withFields({ note: text({ max: 9, ...internal }) }), search: { note: 1 } },
  'the search of book names slug, which is a slug, with the words of title: name that': {
    ...withFields({ slug: slug({ from: 'title' }) }),
    search: { slug: 1 },
  },
  'the search of book needs the name of the filter search: rename that': {
    search: { title: 1 },
    listing: { filters: { search: { kind: 'equals', field: 'title' } } },
  },
  'the search of book needs the name of the field relevance: rename that': {
    ...withFields({ relevance: int({ min: 0, max: 9 }) }),
    search: { title: 1 },
  },
})

test('a search of as many fields as fit in an index is not too large', () => {
  assert.doesNotMatch(faultsOf(searched(7)).join(), /more than the 7/)
})
