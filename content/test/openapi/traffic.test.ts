/** The check of answers by the documents: what is taken out of a document is missed in the answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import content from '#content/duet.config.ts'
import { versions } from '#content/versions.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { checkerOf } from '#test/openapi/traffic.ts'
import { createWorld, forAllTests } from '../world.ts'

const world = forAllTests(createWorld)

/** A document with something taken out. */
// biome-ignore lint/suspicious/noExplicitAny: any part of a document may be taken out.
const without = async (take: (document: any) => void) => {
  const document = structuredClone(await openApiOf(content, 2))
  take(document)
  return checkerOf(document, content.versions.all, Ajv2020)
}

type Case = readonly [line: string, fault: RegExp, take: Parameters<typeof without>[0]]

const cases: Readonly<Record<string, Case>> = {
  'a status': [
    'GET /api/v2/products/99',
    /the status 404 is not declared/,
    ({ paths }) => delete paths['/products/{id}'].get.responses[404],
  ],
  'a header': [
    'GET /api/v2/products',
    /the header link is not declared/,
    ({ components }) => delete components.responses.ProductList.headers.Link,
  ],
  'a media type': [
    'GET /api/v2/products/1',
    /the media type application\/json is not declared/,
    ({ components }) => delete components.responses.Product.content['application/json'],
  ],
  'a member': [
    'GET /api/v2/products/1',
    /additional.*createdAt/,
    ({ components }) => delete components.schemas.Product.properties.createdAt,
  ],
  'a member of what a list has': [
    'GET /api/v2/products?limit=1',
    /additional.*"stock"/,
    ({ components }) => delete components.schemas.Product.properties.stock,
  ],
  'a member of the partial form': [
    'GET /api/v2/products/1?fields=id,stock',
    /additional.*"stock"/,
    ({ components }) => delete components.schemas.PartialProduct.properties.stock,
  ],
  'the partial form': [
    'GET /api/v2/products?fields=id,stock',
    /required property/,
    ({ components }) => {
      const { content } = components.responses.ProductList
      content['application/json'].schema = { $ref: '#/components/schemas/ProductList' }
    },
  ],
  'null of a type': [
    'GET /api/v2/products/1',
    /\/image must be string/,
    ({ components }) => {
      components.schemas.Product.properties.image.type = 'string'
    },
  ],
  'an error code': [
    'GET /api/v2/products/99',
    /the code NOT_FOUND is not declared/,
    ({ components }) => components.responses.NotFound['x-codes'].pop(),
  ],
  'that no token is needed': [
    'GET /api/v2/products/1',
    /no token was needed/,
    ({ paths }) => paths['/products/{id}'].get.security.shift(),
  ],
}

for (const [what, [line, fault, take]] of Object.entries(cases))
  test(`a document that lacks ${what} does not hold for ${line} [F9, I1]`, async () => {
    const got = { ...(await world.ask(line)), isAnonymous: true }
    assert.equal((await without(() => {}))(line, got), undefined)
    assert.match((await without(take))(line, got) ?? '', fault)
  })

test('an answer that lacks a member is missed, unless the request chose others', async () => {
  for (const version of versions.all) {
    const document = await openApiOf(content, version)
    const check = checkerOf(document, versions.all, Ajv2020)
    for (const path of ['products', 'products/1', 'users', 'users/1']) {
      const plain = `GET /api/v${version}/${path}`
      const line = `${plain}?fields=id,name`
      const got = await world.ask(line, { as: 1 })
      assert.equal(got.status, 200)
      assert.equal(check(line, got), undefined)
      assert.match(check(plain, got) ?? '', /required property/)
      // As any validator reads it: both answers are in the document.
      assert.equal(check(plain, await world.ask(plain, { as: 1 })), undefined)
    }
  }
})
