/** What the specification of this content promises, each with a test that shows it: all of them are in what `npm test` runs. Which operations there are, and for whom, is asked by `policy.test.ts`, which has a row for each. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/** By file of content/test/contract what is promised, and the title that shows it, or what of it is the same for all its cases. */
const promises: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  policy: {
    'each path of REST': 'the table has a row for every operation of REST, and no other',
    'each root field of GraphQL':
      'the table has a row for every root field of GraphQL, and no other',
  },
  'graphql-schema': {
    'types, inputs and arguments':
      'the schema is the specification’s, type for type, with limit and offset',
  },
  first: {
    'one store': 'a user created through GraphQL is read through REST',
  },
  'rest-reads': {
    user: 'a user has exactly the members of the contract, in their order',
    post: 'a post has exactly the members of the contract, for anonymous too',
    comment: 'a comment has exactly the members of the contract',
    product: 'a product has exactly the members of the contract, its timestamp as created_at',
    like: 'a like in the list of a comment names its user, its comment and its moment',
    envelope: 'the list of users is in an envelope with all six pagination members',
    'list of products': 'the list of products is in the same envelope, filtered or not',
    cursor: 'a cursor list is data, newest first, and nextCursor',
    '404': 'a 404 names the thing',
  },
  orders: {
    'order and customer': 'an order is placed with what it costs now, and takes its stock at once',
    'paid, refunded': 'an order is paid once, then refunded once, and its stock comes back',
  },
  'rest-preconditions': {
    cancelled: 'of twenty who cancel or pay an order with one ETag exactly one does',
  },
  receipt: {
    receipt: 'a paid order has a receipt with these members',
  },
  'verify-email': {
    'verify-email':
      'verifies the address once; used again it changes nothing more, and an admin may use it',
  },
  promote: {
    'promote-to-admin': 'an admin promotes a user once; the second time changes nothing',
  },
  reports: {
    reports: 'a report says what it is about, in this order',
  },
  'rest-conditional': {
    avatar: 'a picture is an SVG that runs nothing, the same for ever for one id',
    '304': ' with its own ETag is 304, empty, with the same validators',
    'Cache-Control': ' says who may keep it and what it depends on',
  },
  'graphql-reads': {
    'named operations': 'operationName chooses among several operations',
    variables: 'a variable that is absent takes its default, one that is null is null',
    'nested selections':
      'users are by id ascending, ten of them; posts and comments newest first, whole',
    fragments:
      '@skip and @include hold for fields, fragments and inline fragments, by literal and variable',
  },
  connections: {
    aliases: 'each member of a connection may be selected several times, under other names',
  },
  'graphql-http': {
    '200 with errors': 'an error of a field is 200 for either type and stands beside data',
  },
  'graphql-errors': {
    'faults of variables': 'errors of variables name the variable and its member',
  },
  'graphql-limits': {
    depth: ' are served, ',
  },
  'rest-creates': {
    create: 'a sign-up without a token is answered whole with 201, Location and ETag',
    'below a parent': 'a post is made below its author, a comment below its post by its own author',
  },
  'rest-updates': {
    replace: 'a PUT without an age clears it, keeps role, status and moment, and carries no ETag',
    update: 'a PATCH changes what it names, and null clears what may be null',
  },
  'rest-deletes': {
    delete: 'a delete is 204 without a body, and 404 the second time',
  },
  'rest-lists': {
    defaults: 'users come by ten and products by twenty, by id ascending',
    limit: 'a limit above 100 is 100, one below 1 is 1',
    page: 'page n starts after (n - 1) × limit rows, and hasNext is page × limit < total',
    'least page': 'a page below 1 is 1, one after the last is empty and says so',
    offset: 'an offset wins over the page, which is then floor(offset / limit) + 1',
  },
  'rest-cursors': {
    'walk by cursors': ' walked by nextCursor shows each item once, newest first',
  },
  'rest-filters': {
    'role, status': 'users are filtered by role, by status, and by both',
    category: 'a category is compared to the letter',
    'min_price, max_price':
      'a price keeps its bound, and a fraction of a minor unit is compared exactly',
    in_stock: 'only the value true of in_stock has an effect',
    search: 'search folds case for all of Unicode',
    'filters together': 'filters are all true at once, in any mixture and under any sort',
  },
  'rest-sorts': {
    'sort of users': ', ties by id ascending in either direction',
    fields: 'fields keeps the order of the object and adds no id',
  },
  'rest-bodies': {
    '422': 'a sign-up without name and email names both, exactly',
  },
  'rest-rights': {
    'no token': 'without a token it is 401, before anything of the path or the body is looked at',
  },
  versions: {
    'the ways to name a version': ' has the shape of every error, whatever the check',
    'shapes of versions': 'version 2 has one envelope for all lists',
  },
  deprecation: {
    'Deprecation, Sunset, Link':
      'the headers are these to the letter, beside the links of the list',
  },
}

type Files = { readonly sqlite: readonly string[] }
const { suites }: { readonly suites: { readonly test: () => Files } } = await import(
  new URL('../../scripts/test-files.mjs', import.meta.url).href
)

test('npm test runs a test for each promise of the specification', () => {
  const { sqlite } = suites.test()
  for (const [name, titles] of Object.entries(promises)) {
    const file = `content/test/contract/${name}.test.ts`
    assert.ok(sqlite.includes(file), file)
    const text = readFileSync(file, 'utf8')
    for (const [what, title] of Object.entries(titles))
      assert.ok(text.includes(title), `${what}: ${title}`)
  }
})
