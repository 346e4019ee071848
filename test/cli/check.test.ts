/** `duet check`: passes on a content that is right, and finds faults that are planted. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { duet, folderOf } from '../duet.ts'
import { freshDatabase } from '../postgres/tools/database.ts'
import { onPostgres } from '../stores.ts'
import { projectIn } from '../support/project.ts'

const { folder } = folderOf('check')

/** The engine of the run beside SQLite. */
const settings = async () =>
  onPostgres ? { DUET_CHECK_DATABASE_URL: (await freshDatabase()).url } : {}

test('the blog passes, and neither its folder nor its settings are touched', async () => {
  const { project, config } = await projectIn(folder, 'blog')
  const before = readdirSync(project)
  const args = ['check', '--seconds', onPostgres ? '8' : '4', '--seed', '1', ...config]
  const { code, stdout, stderr } = await duet(args, await settings())
  assert.deepEqual([code, stderr], [0, ''], stdout)
  assert.match(stdout, /^who may do what:\n {2}author\n {4}read {4}anybody\n/)
  for (const engine of ['SQLite', ...(onPostgres ? ['PostgreSQL'] : [])]) {
    assert.match(stdout, new RegExp(`^${engine}: \\d{3,} requests of 4 callers`, 'm'))
    assert.match(stdout, new RegExp(`^${engine}: \\d+ acknowledged writes were there`, 'm'))
  }
  assert.match(stdout, /^all is well \(seed 1\)\n$/m)
  assert.deepEqual(readdirSync(project), before)
})

test('what is not a number of seconds, and a server that is not there, are told', async () => {
  const config = ['--config', join(folder, 'blog/duet.config.ts')]
  const none = await duet(['check', '--seconds', '0', ...config])
  assert.deepEqual(
    [none.code, none.stderr],
    [2, 'duet: --seconds must be 1 or more (duet check --help tells more)\n'],
  )
  const away = await duet(['check', '--seconds', '1', ...config], {
    DUET_CHECK_DATABASE_URL: 'postgres://127.0.0.1:1/none',
  })
  assert.equal(away.code, 1)
  assert.match(away.stderr, /^duet: no database can be made at DUET_CHECK_DATABASE_URL/)
})

/** Checks a project of an example after a change of its `duet.config.ts`, with one more file. */
const checkPlanted = async (
  example: string,
  name: string,
  planted: string,
  part: readonly [was: string, is: string],
) => {
  const { project, config } = await projectIn(folder, example, name)
  const file = join(project, 'duet.config.ts')
  const text = readFileSync(file, 'utf8')
  assert.ok(text.includes(part[0]), text)
  writeFileSync(file, `import { planted } from './planted.ts'\n${text.replace(part[0], part[1])}`)
  writeFileSync(join(project, 'planted.ts'), planted)
  return duet(['check', '--seconds', '2', '--seed', '1', ...config])
}

test('what would break the callers of contract/ is found', async () => {
  const { project, config } = await projectIn(folder, 'blog', 'breaks')
  const { stdout } = await duet(['schema', ...config])
  mkdirSync(join(project, 'contract'))
  const text = stdout.replace('type Author {', 'type Author {\n  age: Int')
  writeFileSync(join(project, 'contract/schema.graphql'), text)
  const { code, stderr } = await duet(['check', '--seconds', '1', '--seed', '1', ...config])
  assert.equal(code, 1, stderr)
  assert.match(
    stderr,
    /^duet: the callers of contract\/schema\.graphql would break: breaking: 1\nduet: {3}field-removed: Field Author\.age was removed/,
  )
})

test('an action that skips its rule is found', async () => {
  const planted = `
import { commandOf, sql } from 'duet/actions'
import { signedIn } from 'duet/model'
import { own } from './entities/post.ts'
export const planted = {
  method: 'POST', about: 'post', answers: null, name: 'shout posts', path: '/posts/:id/shout',
  rule: signedIn.where(own),
  described: { operationId: 'shoutPost', summary: 'Shout it' },
  command: (writing, { id }) =>
    commandOf(writing, {
      name: 'shout posts',
      steps: [{ sql: sql\`update posts set title = upper(title) where id = \${id} returning id\` }],
      status: 204,
    }),
}
`
  const { code, stderr } = await checkPlanted('blog', 'skips', planted, [
    'actions: [publish, archive]',
    'actions: [publish, archive, planted]',
  ])
  assert.equal(code, 1, stderr)
  assert.match(
    stderr,
    /^duet: shout posts: POST \/api\/posts\/\d+\/shout of author \d is done, where its rule refuses it: \nduet: again: npx duet check --seed 1 --seconds 2\n$/,
  )
})

test('a route that reads, and writes what it read, loses updates, which is found', async () => {
  const planted = `
import { nobody, anyone } from 'duet/model'
const run = async ({ writer }, text, values) => {
  const done = await writer.write({ steps: [{ statement: { text, values }, expect: 'any' }], status: 200, answer: null })
  return done.rows[0]
}
export const planted = {
  method: 'POST', path: '/products/:id/take',
  described: { operationId: 'takeProduct', summary: 'Take one', rule: anyone, success: { 204: 'Taken.' } },
  serve: ({ core }) => async c => {
    const id = Number(c.req.param('id'))
    const [[stock] = [0]] = await run(core, 'select stock from products where id = ?', [id])
    await run(core, 'update products set stock = ? where id = ?', [Number(stock) + 1, id])
    return { status: 204, headers: {}, body: null }
  },
}
`
  const { code, stderr } = await checkPlanted('shop', 'loses', planted, [
    '  errors,\n',
    '  errors,\n  served: async () => ({ routes: [planted], pages: [] }),\n',
  ])
  assert.equal(code, 1, stderr)
  assert.match(
    stderr,
    /^duet: POST \/products\/:id\/take: 3 calls at once of POST \/api\/products\/\d+\/take did what they do in no order, answers 204, 204, 204: product .*Let the write itself say/m,
  )
})
