/** The types that openapi-typescript makes of the documents are enough for openapi-fetch, with those of docs/clients.md for clients that choose no members. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import content from '#content/duet.config.ts'
import { versions } from '#content/versions.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { authDocument } from '#openapi/people.ts'
import { typesOf } from '#test/support/typed.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
// Below the packages, so that the compiler finds openapi-fetch.
const folder = mkdtempSync(join(cache, 'types-'))
after(() => rmSync(folder, { recursive: true }))

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)

/** What the compiler says of a file. */
const told = (name: string): string => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext']
  const also = ['--allowImportingTsExtensions', '--skipLibCheck', '--types', '', join(folder, name)]
  const { stdout } = spawnSync(
    process.execPath,
    [compiler, '--ignoreConfig', ...options, ...also],
    {
      encoding: 'utf8',
    },
  )
  return stdout
}

before(async () => {
  write('package.json', '{"type":"module"}')
  const document = await openApiOf(content, versions.newest)
  write('duet.d.ts', await typesOf(document))
  const page = readFileSync(join(root, 'docs/clients.md'), 'utf8')
  const [, whole = ''] = /Save this as `whole\.ts`.*?```ts\n(.*?)```/s.exec(page) ?? []
  write('whole.ts', whole)
  write('auth.d.ts', await typesOf(authDocument(content)))
})

test('with openapi-fetch they type paths, parameters, bodies and answers', () => {
  write(
    'client.ts',
    `import createClient from 'openapi-fetch'
import type { components, paths } from './duet.d.ts'
import type { Whole, WholePaths } from './whole.ts'
const client = createClient<paths>({
  baseUrl: 'http://localhost:3000/api/v2',
  querySerializer: { array: { style: 'form', explode: false } },
})
await client.GET('/products', { params: { query: { sort: ['-price', 'stock'], fields: ['id'] } } })
await client.GET('/posts', { params: { query: { sort: ['author.name', '-id'] } } })
// @ts-expect-error: there is no such member to sort by.
await client.GET('/products', { params: { query: { sort: ['-prise'] } } })
// @ts-expect-error: nor one to choose.
await client.GET('/products', { params: { query: { fields: ['nam'] } } })
const { data, error } = await client.GET('/products/{id}', { params: { path: { id: 1 } } })
const made: string | undefined = data?.createdAt
const code: components['schemas']['Problem']['code'] | undefined = error?.code
// A read without fields has all members; a client that never sends fields has them in its types.
const whole = createClient<WholePaths>({ baseUrl: 'http://localhost:3000/api/v2' })
const { data: product } = await whole.GET('/products/{id}', { params: { path: { id: 1 } } })
const { data: products } = await whole.GET('/products', { params: { query: { sort: ['-price'], limit: 2 } } })
const { data: order } = await whole.GET('/orders/{id}', { params: { path: { id: 1 } } })
if (!product || !products || !order || !data) throw new Error('They are not there.')
const names: readonly string[] = [product.name, ...products.data.map(({ name }) => name)]
const amount: number = order.amount + (data as Whole<typeof data>).price
// @ts-expect-error: that client takes all members.
await whole.GET('/products', { params: { query: { fields: ['id'] } } })
// @ts-expect-error: members may have been chosen.
const name: string = data.name
// @ts-expect-error: there is no such member.
product.nam
// @ts-expect-error: nor such a path for it.
await whole.GET('/nothing')
await client.POST('/orders', {
  params: { header: { 'Idempotency-Key': 'one' } },
  body: { items: [{ productId: 1, quantity: 1 }] },
})
// @ts-expect-error: there is no such path.
await client.GET('/nothing')
// @ts-expect-error: the id is missing.
await client.GET('/products/{id}')
// @ts-expect-error: version 2 calls it createdAt.
data?.created_at
// @ts-expect-error: quantity is missing.
await client.POST('/orders', { body: { items: [{ productId: 1 }] } })
export { amount, code, made, name, names }
`,
  )
  assert.equal(told('client.ts'), '')
})

test('so do those of sign-in', () => {
  write(
    'sign-in.ts',
    `import createClient from 'openapi-fetch'
import type { paths } from './auth.d.ts'
const auth = createClient<paths>({ baseUrl: 'http://localhost:3000/auth' })
await auth.POST('/email-otp/send-verification-otp', { body: { email: 'a@example.org', type: 'sign-in' } })
const { data, error } = await auth.POST('/sign-in/email-otp', { body: { email: 'a@example.org', otp: '12345678' } })
const id: string | undefined = data?.user.id
const code: string | undefined = error?.code
const token: string | undefined = (await auth.GET('/token')).data?.token
const now = (await auth.GET('/get-session')).data
const name: string | undefined = now?.user.name
// @ts-expect-error: there is no such kind of code.
await auth.POST('/email-otp/send-verification-otp', { body: { email: 'a@example.org', type: 'sign-up' } })
// @ts-expect-error: the code is missing.
await auth.POST('/sign-in/email-otp', { body: { email: 'a@example.org' } })
// @ts-expect-error: nobody signs up with a password.
await auth.POST('/sign-up/email')
export { code, id, name, token }
`,
  )
  assert.equal(told('sign-in.ts'), '')
})
