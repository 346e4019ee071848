/** Uses of what is deprecated are counted, by member. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mint } from '#auth/token.ts'
import type { Field } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import { demo } from '#test/support/library/demo.ts'
import { library } from '#test/support/library/index.ts'
import { createWorld, secret, usualModel, type World } from '../world.ts'

const now = () => Date.parse('2027-02-28T12:00:00Z')

type Headers = Record<string, string>

/** How often each member was used. */
const sums = ({ uses }: World): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(uses, ({ api, member }) => `${api} ${member}`)].map(([name, all]) => [
      name,
      all.length,
    ]),
  )

test('requests that name a deprecated member are counted once each, wherever they name it', async () => {
  const { entities } = usualModel
  const product = entityOf(usualModel, 'product')
  const { fields, rest } = product
  const { listing } = rest
  const model: Model = {
    ...usualModel,
    entities: {
      ...entities,
      product: {
        ...product,
        fields: {
          ...fields,
          image: { ...(fields.image as Field), deprecated: 'Use pictures.' },
          price: { ...(fields.price as Field), last: 1, sunset: '2027-12-01' },
        },
        rest: {
          ...rest,
          lifetimes: { ...rest.lifetimes, delete: { deprecated: 'Set the stock to 0.' } },
          listing: {
            ...listing,
            filters: {
              ...listing.filters,
              category: { kind: 'equals', field: 'category', deprecated: 'Use search.' },
            },
          },
        },
      },
    },
  }
  const other = await createWorld({ now, model })
  const as = async (id: number) => ({
    Authorization: `Bearer ${await mint({ sub: id, role: id === 1 ? 'admin' : 'user', ttl: 60 }, secret, now())}`,
  })
  const [admin, ben] = [await as(1), await as(2)]
  const newProduct = { name: 'Bowl', category: 'kitchen', image: null, price: 1 }
  for (const [line, headers, body] of [
    ['GET /api/products?fields=id,image,image&sort=-price&min_price=1', ben],
    ['GET /api/v1/products?category=office', ben],
    ['GET /api/v1/products/1?fields=price', {}],
    ['GET /api/v2/products?fields=image&category=office', ben],
    ['GET /api/products?fields=id,name&sort=name', ben],
    ['POST /api/products', admin, newProduct],
    ['PATCH /api/v2/products/1', admin, { image: null }],
    ['PATCH /api/v2/products/1', admin, { stock: 1 }],
    ['DELETE /api/products/5', admin],
    ['GET /api/v2/products?image[isNull]=true&image[ne]=x', ben],
    ['GET /api/v2/products?where={"or":[{"stock":1},{"not":{"image":"x"}}]}', ben],
    ['QUERY /api/v2/products', ben, { where: { image: null } }],
    ['GET /api/v2/products/aggregate?image[isNull]=true', ben],
    ['GET /api/v2/users?posts.title[ne]=x', ben],
  ] as [string, Headers, object?][]) {
    const answer = await other.ask(line, { headers, ...(body && { body }) })
    assert.ok(answer.status < 300, `${line} ${answer.text}`)
  }
  await other.close()
  assert.deepEqual(sums(other), {
    'v1 DELETE:/products/:id': 1,
    'v1 product.image': 2,
    'v1 product.price': 3,
    'v1 product?category': 1,
    'v2 product.image': 6,
    'v2 product?category': 1,
  })
})

test('what a content deprecates is counted in both APIs by its name there', async () => {
  const other = await createWorld({ now, content: library, rows: demo })
  for (const path of [
    '/api/books?fields=title,donor&donor=x&sort=-pages',
    '/api/v2/books?shelf=3&fields=title',
  ])
    assert.equal((await other.ask(`GET ${path}`)).status, 200)
  for (let times = 0; times < 2; times++)
    await other.gql('{ authors { name biography } books(authorId: "1") { title language } }')
  await other.close()
  assert.deepEqual(sums(other), {
    'graphql Author.biography': 2,
    'graphql Query.books(authorId)': 2,
    'v1 book.donor': 1,
    'v1 book?sort=-pages': 1,
    'v2 book?shelf': 1,
  })
})
