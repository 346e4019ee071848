/** The types of clients: the same as openapi-typescript makes of the documents, and enough for openapi-fetch. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import content from '#content/duet.config.ts'
import { versions } from '#content/versions.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { typesOf } from '#openapi/print.ts'

// openapi-typescript writes with the compiler of TypeScript 5, which TypeScript 7 has not.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? '@ts-morph/common/dist/typescript.js' : specifier, context),
})

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
  const { default: make, astToString } = await import('openapi-typescript')
  write('package.json', '{"type":"module"}')
  for (const version of versions.all) {
    const document = await openApiOf(content, version)
    write(`own${version}.ts`, typesOf(document))
    write(`made${version}.ts`, astToString(await make(JSON.stringify(document))))
  }
})

const sameTypes = `
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
export const check = <A, B>(_: Same<A, B>) => {}
`

test('they are assignable to what openapi-typescript makes, and the other way round', () => {
  const imports = versions.all.flatMap(version => [
    `import type * as own${version} from './own${version}.ts'`,
    `import type * as made${version} from './made${version}.ts'`,
  ])
  const checks = versions.all.flatMap(version =>
    ['paths', 'components', 'operations'].map(
      name => `check<own${version}.${name}, made${version}.${name}>(true)`,
    ),
  )
  const different = '// @ts-expect-error: versions differ.\ncheck<own1.paths, own2.paths>(true)'
  write('same.ts', [...imports, sameTypes, ...checks, different].join('\n'))
  assert.equal(told('same.ts'), '')
})

test('with openapi-fetch they type paths, parameters, bodies and answers', () => {
  write(
    'client.ts',
    `import createClient from 'openapi-fetch'
import type { components, paths, Whole, WholePaths } from './own2.ts'
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
