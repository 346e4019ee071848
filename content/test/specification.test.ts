/** What the specification of this content promises, each with a test that shows it: all of them are in what `npm test` runs. Which operations there are, and for whom, is asked by `policy.test.ts`, which has a row for each. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/** The title, or what of it is the same for all its cases. */
type Row = readonly [what: string, file: string, title: string]

const promises: readonly Row[] = [
  // Operations and types.
  ['each path of REST', 'policy', 'the table has a row for every operation of REST, and no other'],
  [
    'each root field of GraphQL',
    'policy',
    'the table has a row for every root field of GraphQL, and no other',
  ],
  [
    'types, inputs and arguments',
    'graphql-schema',
    'the schema is the specification’s, type for type, with limit and offset',
  ],
  ['one store', 'first', 'a user created through GraphQL is read through REST'],
  // Members.
  ['user', 'rest-reads', 'a user has exactly the members of the contract, in their order'],
  ['post', 'rest-reads', 'a post has exactly the members of the contract, for anonymous too'],
  ['comment', 'rest-reads', 'a comment has exactly the members of the contract'],
  [
    'product',
    'rest-reads',
    'a product has exactly the members of the contract, its timestamp as created_at',
  ],
  [
    'order and customer',
    'orders',
    'an order is placed with what it costs now, and takes its stock at once',
  ],
  [
    'like',
    'rest-reads',
    'a like in the list of a comment names its user, its comment and its moment',
  ],
  // States.
  [
    'paid, refunded',
    'orders',
    'an order is paid once, then refunded once, and its stock comes back',
  ],
  [
    'cancelled',
    'rest-preconditions',
    'of twenty who cancel or pay an order with one ETag exactly one does',
  ],
  ['receipt', 'receipt', 'a paid order has a receipt with these members'],
  [
    'verify-email',
    'verify-email',
    'verifies the address once; used again it changes nothing more, and an admin may use it',
  ],
  ['promote-to-admin', 'promote', 'an admin promotes a user once; the second time changes nothing'],
  ['reports', 'reports', 'a report says what it is about, in this order'],
  [
    'avatar',
    'rest-conditional',
    'a picture is an SVG that runs nothing, the same for ever for one id',
  ],
  // GraphQL.
  ['named operations', 'graphql-reads', 'operationName chooses among several operations'],
  [
    'variables',
    'graphql-reads',
    'a variable that is absent takes its default, one that is null is null',
  ],
  [
    'nested selections',
    'graphql-reads',
    'users are by id ascending, ten of them; posts and comments newest first, whole',
  ],
  [
    'aliases',
    'connections',
    'each member of a connection may be selected several times, under other names',
  ],
  [
    'fragments',
    'graphql-reads',
    '@skip and @include hold for fields, fragments and inline fragments, by literal and variable',
  ],
  [
    '200 with errors',
    'graphql-http',
    'an error of a field is 200 for either type and stands beside data',
  ],
  ['faults of variables', 'graphql-errors', 'errors of variables name the variable and its member'],
  ['depth', 'graphql-limits', ' are served, '],
  // Writes of REST.
  [
    'create',
    'rest-creates',
    'a sign-up without a token is answered whole with 201, Location and ETag',
  ],
  [
    'below a parent',
    'rest-creates',
    'a post is made below its author, a comment below its post by its own author',
  ],
  [
    'replace',
    'rest-updates',
    'a PUT without an age clears it, keeps role, status and moment, and carries no ETag',
  ],
  ['update', 'rest-updates', 'a PATCH changes what it names, and null clears what may be null'],
  ['delete', 'rest-deletes', 'a delete is 204 without a body, and 404 the second time'],
  // Lists.
  ['defaults', 'rest-lists', 'users come by ten and products by twenty, by id ascending'],
  ['limit', 'rest-lists', 'a limit above 100 is 100, one below 1 is 1'],
  [
    'page',
    'rest-lists',
    'page n starts after (n - 1) × limit rows, and hasNext is page × limit < total',
  ],
  ['least page', 'rest-lists', 'a page below 1 is 1, one after the last is empty and says so'],
  ['offset', 'rest-lists', 'an offset wins over the page, which is then floor(offset / limit) + 1'],
  ['envelope', 'rest-reads', 'the list of users is in an envelope with all six pagination members'],
  [
    'list of products',
    'rest-reads',
    'the list of products is in the same envelope, filtered or not',
  ],
  ['cursor', 'rest-reads', 'a cursor list is data, newest first, and nextCursor'],
  ['walk by cursors', 'rest-cursors', ' walked by nextCursor shows each item once, newest first'],
  ['role, status', 'rest-filters', 'users are filtered by role, by status, and by both'],
  ['category', 'rest-filters', 'a category is compared to the letter'],
  [
    'min_price, max_price',
    'rest-filters',
    'a price keeps its bound, and a fraction of a minor unit is compared exactly',
  ],
  ['in_stock', 'rest-filters', 'only the value true of in_stock has an effect'],
  ['search', 'rest-filters', 'search folds case for all of Unicode'],
  [
    'filters together',
    'rest-filters',
    'filters are all true at once, in any mixture and under any sort',
  ],
  ['sort of users', 'rest-sorts', ', ties by id ascending in either direction'],
  ['fields', 'rest-sorts', 'fields keeps the order of the object and adds no id'],
  // What holds for all.
  ['304', 'rest-conditional', ' with its own ETag is 304, empty, with the same validators'],
  ['Cache-Control', 'rest-conditional', ' says who may keep it and what it depends on'],
  ['404', 'rest-reads', 'a 404 names the thing'],
  ['422', 'rest-bodies', 'a sign-up without name and email names both, exactly'],
  [
    'no token',
    'rest-rights',
    'without a token it is 401, before anything of the path or the body is looked at',
  ],
  ['the ways to name a version', 'versions', ' has the shape of every error, whatever the check'],
  ['shapes of versions', 'versions', 'version 2 has one envelope for all lists'],
  [
    'Deprecation, Sunset, Link',
    'deprecation',
    'the headers are these to the letter, beside the links of the list',
  ],
]

type Files = { readonly sqlite: readonly string[] }
const { suites }: { readonly suites: { readonly test: () => Files } } = await import(
  new URL('../../scripts/test-files.mjs', import.meta.url).href
)

test('npm test runs a test for each promise of the specification', () => {
  const { sqlite } = suites.test()
  const isShown = ([, name, title]: Row) => {
    const file = `content/test/contract/${name}.test.ts`
    return sqlite.includes(file) && readFileSync(file, 'utf8').includes(title)
  }
  assert.deepEqual(
    promises.filter(row => !isShown(row)),
    [],
  )
})
