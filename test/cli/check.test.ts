/** `duet check`: passes on a content that is right, and finds faults that are planted. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { defineContent, defineModel } from 'duet'
import { type Action, change, commandOf, sql } from 'duet/actions'
import {
  anyone,
  entity,
  file,
  int,
  one,
  reference,
  role,
  signedIn,
  subject,
  text,
  viewer,
} from 'duet/model'
import { queryOf } from 'duet/routes'
import { randomFrom } from '#base/random.ts'
import type { Content } from '#content.ts'
import { run } from '#kit/check/command.ts'
import { checkLists } from '#kit/check/lists.ts'
import { checkHandReads, checkReads } from '#kit/check/reads.ts'
import { checkRules, exposedIn } from '#kit/check/rules.ts'
import { type CheckService, Fault, serveForCheck } from '#kit/check/service.ts'
import { checkTogether } from '#kit/check/together.ts'
import { checkWrites } from '#kit/check/writes.ts'
import { draftings, draftMigrations } from '#kit/draft/draft.ts'
import type { Entity } from '#model/entity.ts'
import type { Entities } from '#model/model.ts'
import type { RuledRoute } from '#rest/rest.ts'
import type { RuledAction } from '#write/steps/action.ts'
import blog from '../../examples/blog/duet.config.ts'
import { own } from '../../examples/blog/entities/post.ts'
import recipes from '../../examples/recipes/duet.config.ts'
import shop from '../../examples/shop/duet.config.ts'
import { callDuet } from '../commands.ts'
import { duet, folderOf, start } from '../duet.ts'
import { freshDatabase } from '../postgres/tools/database.ts'
import { onPostgres } from '../stores.ts'
import { projectIn } from '../support/project.ts'
import { inTime, until } from '../support/wait.ts'

const { folder } = folderOf('check')
const ofBlog = ['--config', 'examples/blog/duet.config.ts']

test('the blog passes, and neither its folder nor its settings are touched', async () => {
  const { project, config } = await projectIn(folder, 'blog')
  const before = readdirSync(project)
  const args = ['check', '--seconds', '1', '--seed', '1', ...config]
  const { stdout, stderr, closed } = start(args, {})
  let isClosed = false
  closed.then(() => {
    isClosed = true
  })
  // Each part has the time of a test: a slow machine is slow in all of them.
  const tells = (what: string) =>
    until(`it tells ${what}`, () => isClosed || new RegExp(`^${what}`, 'm').test(stdout()))
  await tells('who may do what:\n {2}author: read by anybody\n')
  for (const part of [
    'the migrations make',
    '\\d{3,} requests of 4 callers',
    '\\d+ rules that look at rows refused',
    'actions, three at once',
    '[1-9]\\d* acknowledged writes were there',
  ])
    await tells(`SQLite: ${part}`)
  const [code] = await inTime('it ends', closed)
  assert.deepEqual([code, stderr()], [0, ''], stdout())
  assert.match(stdout(), /^all is well \(seed 1\)\n$/m)
  assert.deepEqual(readdirSync(project), before)
})

test('services are killed while rows are made, not while a caller is told that it has one already', async () => {
  const { project, config } = await projectIn(folder, 'empty', 'members')
  const written = `import { defineContent, defineModel } from 'duet'
import { anyone, defineRoles, entity, reference, signedIn, subject, text } from 'duet/model'

const member = entity({
  fields: { subject: subject(), name: text({ max: 40 }) },
  policy: { read: anyone, create: signedIn },
})
const trip = entity({
  fields: { title: text({ max: 40 }), memberId: reference('member', { initial: 'viewer' }) },
  policy: { read: anyone, create: signedIn },
})
export default defineContent({
  entities: defineModel({ member, trip }),
  viewers: {
    ...{ entity: 'member', by: 'subject' },
    roles: defineRoles({ names: ['member', 'admin'], default: 'member', superuser: 'admin' }),
  },
  migrations: new URL('./drawn/', import.meta.url),
})
`
  writeFileSync(join(project, 'duet.config.ts'), written)
  const drafted = await callDuet(['migrate', '--draft', 'first', ...config])
  assert.equal(drafted.code, 0, drafted.stderr)
  const settings = onPostgres ? { DUET_CHECK_DATABASE_URL: (await freshDatabase()).url } : {}
  const args = ['check', '--seconds', '1', '--seed', '1', ...config]
  const { code, stdout, stderr } = await duet(args, settings)
  assert.deepEqual([code, stderr], [0, ''], stdout)
  for (const engine of ['SQLite', ...(onPostgres ? ['PostgreSQL'] : [])])
    assert.match(stdout, new RegExp(`^${engine}: [1-9]\\d* acknowledged writes were there`, 'm'))
})

test('a machine that is too slow is told, and is no fault', async () => {
  const { project, config } = await projectIn(folder, 'empty', 'late')
  const file = join(project, 'duet.config.ts')
  const late = `{
  method: 'GET',
  path: '/late',
  described: { operationId: 'late', summary: 'Late', rule: anyone, success: { 200: 'Never.' } },
  serve: () => async () => ({ status: 503, headers: {}, body: '{"code":"TIMEOUT"}' }),
}`
  const text = readFileSync(file, 'utf8').replace(
    'defineContent({',
    `defineContent({\n  served: async () => ({ routes: [${late}], pages: [] }),`,
  )
  writeFileSync(file, `import { anyone } from 'duet/model'\n${text}`)
  const { code, stdout, stderr } = await duet(['check', '--seconds', '1', '--seed', '1', ...config])
  assert.deepEqual([code, stderr], [0, ''], stdout)
  assert.match(
    stdout,
    /^SQLite: stopped, as .* too slow: GET \/api\/late by anonymous was answered/m,
  )
  assert.match(stdout, /^nothing wrong was found, but not everything was tried: .*\(seed 1\)\n$/m)
})

test('what is wrong with a command line, a folder or a server is told with its remedy', async () => {
  const without = { ...blog, migrations: new URL('file:///none/') }
  const told: readonly (readonly [RegExp, readonly string[], Content?, string?])[] = [
    [/^there is no --second; did you mean --seconds\?$/, ['--second', '9']],
    [/^--seconds needs a value$/, ['--seconds']],
    [/^--seconds needs a value$/, ['--seconds', '']],
    [/^--seconds must be 1 or more$/, ['--seconds', '0']],
    [/^--seed must be a whole number, not x$/, ['--seed', 'x']],
    [/^there are no migrations for sqlite in \/none\/: .*migrate --draft first$/, [], without],
    [
      /^DUET_CHECK_DATABASE_URL: .*127\.0\.0\.1.* cannot be reached .*: start it, or correct its address$/,
      [],
      blog,
      'postgres://127.0.0.1:1/none',
    ],
    [
      /^DUET_CHECK_DATABASE_URL is no address of a PostgreSQL database: write/,
      [],
      blog,
      'mysql://x',
    ],
  ]
  const before = process.env.DUET_CHECK_DATABASE_URL
  try {
    for (const [message, args, content = blog, url] of told) {
      delete process.env.DUET_CHECK_DATABASE_URL
      if (url !== undefined) process.env.DUET_CHECK_DATABASE_URL = url
      await assert.rejects(run(args, content), { message })
    }
  } finally {
    delete process.env.DUET_CHECK_DATABASE_URL
    if (before !== undefined) process.env.DUET_CHECK_DATABASE_URL = before
  }
})

/** The fault of `duet check` for a content whose folder has this file in `contract`. */
const faultBeside = async (content: Content, name: string, text: string) => {
  const project = join(folder, name)
  mkdirSync(join(project, 'contract'), { recursive: true })
  writeFileSync(join(project, 'contract', name), text)
  const file = join(project, 'duet.config.ts')
  return run(['--seconds', '1', '--seed', '1'], content, file).then(
    () => '',
    error => error.message,
  )
}

test('what would break the callers of contract/ is found', async () => {
  const { stdout } = await callDuet(['schema', ...ofBlog])
  const text = stdout.replace('type Author {', 'type Author {\n  age: Int')
  assert.match(
    await faultBeside(blog, 'schema.graphql', text),
    /^the callers of contract\/schema\.graphql would break: breaking: 1\n {2}field-removed: Field Author\.age was removed/,
  )
})

test('what contract/corrections.json names passes, and an entry that names nothing is found', async () => {
  const { stdout } = await callDuet(['schema', ...ofBlog])
  const name = 'schema.graphql'
  const correction = {
    reason: 'It was always null.',
    file: name,
    rule: 'field-removed',
    message: 'Field Author.age was removed',
    places: ['Author.age'],
  }
  mkdirSync(join(folder, name, 'contract'), { recursive: true })
  const corrections = join(folder, name, 'contract/corrections.json')
  writeFileSync(corrections, JSON.stringify([correction]))
  assert.match(
    await faultBeside(blog, name, stdout),
    /^contract\/corrections\.json: field-removed at Author\.age of schema\.graphql .* is no breaking difference: take it out/,
  )
  const before = stdout.replace('type Author {', 'type Author {\n  age: Int\n  size: Int')
  assert.match(
    await faultBeside(blog, name, before),
    /would break: breaking: 1\n {2}field-removed: Field Author\.size was removed/,
  )
  rmSync(corrections)
})

/** The blog with another rule of an entity. */
const ruled = (entity: 'post' | 'comment', rules: object): Content => {
  const { [entity]: one } = blog.entities
  const changed = { ...one, policy: { ...one?.policy, ...rules } }
  return { ...blog, entities: { ...blog.entities, [entity]: changed } as Content['entities'] }
}

test('a rule that became wider than the table of rights is found', async () => {
  const { stdout } = await callDuet(['check', '--rights', ...ofBlog])
  assert.equal(
    await faultBeside(ruled('post', { delete: signedIn }), 'rights.txt', stdout),
    `who may do what differs from contract/rights.txt:
  was: post: delete by callers with a token where authorId is the caller, or an editor
  is:  post: delete by callers with a token
mend the rule, or keep the new table: npx duet check --rights > contract/rights.txt
again: npx duet check --seed 1 --seconds 1`,
  )
})

/** What a check finds in a content; by one reference, so mostly on SQLite alone. */
const faultOf = async (
  content: Content,
  check: (service: CheckService) => Promise<unknown>,
  database?: string,
) => {
  const service = await serveForCheck(content, database)
  try {
    await check(service)
    return 'no fault'
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.message
  } finally {
    await service.close()
  }
}
const random = randomFrom(1)

test('a rule that lacks the condition of what its rows belong to is found', async () => {
  const notes = async (content: Content) => {
    let found: readonly string[] = []
    await faultOf(content, async ({ model, callers, reference }) => {
      found = exposedIn(model, await reference(), callers)
    })
    return found
  }
  assert.deepEqual(await notes(blog), [])
  assert.deepEqual(await notes(ruled('comment', { read: anyone })), [
    'comment is shown to anonymous also where its postId names a post that is hidden: is that meant?',
  ])
})

test('the rule of an action is asked also where its command skips it', async () => {
  const shout: RuledAction = {
    method: 'POST',
    about: 'post',
    answers: null,
    name: 'shout posts',
    path: '/posts/:id/shout',
    rule: signedIn.where(own),
    described: { operationId: 'shoutPost', summary: 'Shout it' },
    command: (writing, { id }) =>
      commandOf(writing, {
        name: 'shout posts',
        steps: [{ sql: sql`update posts set title = upper(title) where id = ${id} returning id` }],
        status: 204,
      }),
  }
  const content = { ...blog, actions: [...blog.actions, shout] }
  assert.equal(
    await faultOf(content, service => checkWrites(service, random, () => false, ['call'])),
    'no fault',
  )
})

test('an entity whose rows are made of tokens is no fault, nor is a link below a hidden row, or one that fewer may read', async () => {
  const roles = { names: ['person', 'boss'], default: 'person', superuser: 'boss' } as const
  const person = entity({
    fields: { name: text({ max: 40 }), subject: subject() },
    policy: { read: anyone, create: signedIn },
  })
  const entities = defineModel({ person })
  const migrations = pathToFileURL(join(folder, 'people/'))
  draftMigrations(draftings, entities as never, 'people', migrations)
  const viewers = { entity: 'person', by: 'subject', roles } as const
  const all = (service: CheckService) => checkWrites(service, random, () => false)
  assert.equal(await faultOf(defineContent({ entities, viewers, migrations }), all), 'no fault')
  const { recipeTag } = recipes.entities as { recipeTag: Entity }
  const linked = (read: typeof anyone) => {
    const link = { ...recipeTag, policy: { ...recipeTag.policy, read } }
    return { ...recipes, entities: { ...recipes.entities, recipeTag: link } as never }
  }
  // Which of the rows are tried is by chance.
  const often = async (service: CheckService) => {
    for (let n = 0; n < 6; n++) await checkWrites(service, random, () => false, ['delete'])
  }
  assert.equal(await faultOf(linked(anyone), often), 'no fault')
  const reads = async (service: CheckService) => {
    await checkReads(service, random, 4)
    await checkLists(service, random)
  }
  assert.equal(await faultOf(linked(signedIn), reads), 'no fault')
})

test('a row that needs a file is made by an upload, also where no bytes were sent before', async () => {
  const paper = entity({
    fields: { scan: file({ accept: ['application/pdf'], max: '2 MB' }) },
    policy: { read: anyone, create: anyone },
  })
  const admin = role('admin')
  const fields = { name: text({ max: 9 }), code: text({ max: 9, settableBy: admin }) }
  const stamp = entity({ fields, policy: { read: admin, create: admin } })
  const entities = defineModel({ paper, stamp })
  const migrations = pathToFileURL(join(folder, 'papers/'))
  draftMigrations(draftings, entities as never, 'papers', migrations)
  const content = defineContent({ entities, migrations })
  const create = (service: CheckService) => checkWrites(service, random, () => false, ['create'])
  assert.equal(await faultOf(content, create), 'no fault')
})

test('codes like those of a demo, a row that an action may not name, and a field of others are no fault', async () => {
  const roles = { names: ['person', 'boss'], default: 'person', superuser: 'boss' } as const
  const mine = signedIn.where({ ownerId: viewer })
  const owned = { ownerId: reference('person', { onDelete: 'cascade' }) }
  const shelfId = reference('shelf', { onDelete: 'cascade', immutable: false })
  const code = text({ max: 6, pattern: /^[A-Z]{2}-\d{3}$/, unique: true })
  const note = text({ max: 9, nullable: true, readableBy: { shelf: { ownerId: { ne: viewer } } } })
  const zone = text({ max: 9, initial: { value: 'UTC' }, check: { no: v => v === 'UTC' } })
  const scan = file({ accept: ['image/png'], max: 99, nullable: true, settableBy: { zone: 'no' } })
  const person = entity({ fields: { name: text({ max: 40 }) }, policy: { read: anyone } })
  const shelf = entity({ fields: owned, policy: { read: mine } })
  const paper = entity({
    fields: { ...owned, code, shelfId, note, zone, scan },
    relations: { shelf: one('shelf', 'shelfId') },
    policy: { read: anyone, update: mine },
  })
  const entities = defineModel({ person, shelf, paper })
  const move: Action = {
    ...{ method: 'POST', path: '/papers/:id/move', name: 'move papers', rule: mine },
    ...{ about: 'paper', answers: null, input: { shelf: shelfId } },
    described: { operationId: 'movePaper', summary: 'Move it' },
    steps: ({ id, input }) => [change('paper', id, { shelfId: Number(input.shelf) })],
  }
  const migrations = pathToFileURL(join(folder, 'shelves/'))
  draftMigrations(draftings, entities as never, 'shelves', migrations)
  const viewers = { entity: 'person', roles } as const
  const demo = async () => ({ paper: [{ code: 'AB-123' }] })
  const content = defineContent({ entities, viewers, migrations, actions: [move], demo })
  const rules = async (service: CheckService) => {
    assert.ok(((await service.rows()).get('paper')?.length ?? 0) > 3)
    await checkRules(service, random, () => false)
  }
  assert.equal(await faultOf(content, rules), 'no fault')
})

test('what hooks do after a write is recorded while checking, and not done', async () => {
  const done: unknown[] = []
  const { post } = blog.entities as { post: Entity }
  const after = { create: { fields: ['title'], run: () => void done.push('posted') } }
  const entities = { ...blog.entities, post: { ...post, after } } as Content['entities']
  const found = await faultOf({ ...blog, entities }, async service => {
    await checkWrites(service, random, () => false, ['create'])
    await until('an effect is recorded', () => service.effects.has('after.create of post'))
  })
  assert.deepEqual([found, done], ['no fault', []])
})

test('a route by hand that does not ask for a rule that looks at its row is found', async () => {
  const shown: RuledRoute = {
    method: 'GET',
    path: '/posts/:id/size',
    described: { operationId: 'getSize', summary: 'Get the size', rule: signedIn.where(own) },
    serve: () => async () => ({ status: 200, headers: {}, body: '1' }),
  }
  assert.match(
    await faultOf(withRoute(blog, shown), checkHandReads),
    /^the route GET \/posts\/:id\/size: GET \/api\/posts\/\d+\/size by author \d\n {2}expected: refused, as its rule says of this row\n {2}got: 200 1\n/,
  )
})

test('places in an order that are unique together with their post are no fault where a change would take one twice', async () => {
  const { comment } = blog.entities as { comment: Entity }
  const places: Entity = {
    ...comment,
    fields: { ...comment.fields, place: int({ min: 1, max: 3, nullable: true }) },
    sets: [{ fields: ['postId', 'place'], error: 'CONFLICT' }],
  }
  const entities = { ...blog.entities, comment: places }
  const migrations = pathToFileURL(join(folder, 'places/'))
  cpSync(blog.migrations, migrations, { recursive: true })
  draftMigrations(draftings, entities as Entities, 'places', migrations)
  const content: Content = { ...blog, entities, migrations }
  const all = (service: CheckService) => checkWrites(service, random, () => false)
  assert.equal(await faultOf(content, all), 'no fault')
})

/** A content with a route by hand. */
const withRoute = (content: Content, route: RuledRoute): Content => ({
  ...content,
  served: async () => ({ routes: [route], pages: [] }),
})

test('a route that reads, and writes what it read, loses updates, which is found', async () => {
  const take: RuledRoute = {
    method: 'POST',
    path: '/products/:id/take',
    described: {
      operationId: 'takeProduct',
      summary: 'Take one',
      rule: anyone,
      success: { 204: 'Taken.' },
    },
    serve:
      ({ core }) =>
      async c => {
        const { reader, writer, dialect } = core
        const id = Number(c.req.param('id'))
        const [[stock] = [0]] = await reader.query(
          queryOf(sql`select stock from products where id = ${id}`, dialect),
        )
        const statement = queryOf(
          sql`update products set stock = ${Number(stock) + 1} where id = ${id}`,
          dialect,
        )
        const steps = [{ statement, expect: 'any' as const }]
        await writer.write({ steps, status: 204, answer: null })
        return { status: 204, headers: {}, body: null }
      },
  }
  const database = onPostgres ? (await freshDatabase()).url : undefined
  const together = (service: CheckService) => checkTogether(service, random, () => false)
  assert.match(
    await faultOf(withRoute(shop, take), together, database),
    /^POST \/products\/:id\/take: 3 calls at once of POST \/api\/products\/\d+\/take\n {2}expected: .* in some order\n {2}got: answers 204, 204, 204 and product .*\n {2}remedy: let the write itself say what it depends on/,
  )
})

test('a route by hand that shows a hidden row is found', async () => {
  const peek = (where: ReturnType<typeof sql>): RuledRoute => ({
    method: 'GET',
    path: '/posts/:id/title',
    described: { operationId: 'getTitle', summary: 'Get the title', rule: anyone },
    serve:
      ({ core }) =>
      async c => {
        const text = sql`select title from posts where id = ${Number(c.req.param('id'))}${where}`
        const [[title] = ['']] = await core.reader.query(queryOf(text, core.dialect))
        const headers = { 'Content-Type': 'text/plain' }
        return { status: 200, headers, body: String(title) }
      },
  })
  const [all, published] = [sql``, sql` and status = ${'published'}`].map(where =>
    faultOf(withRoute(blog, peek(where)), checkHandReads),
  )
  assert.match(
    (await all) ?? '',
    /^the route GET \/posts\/:id\/title: GET \/api\/posts\/\d+\/title by anonymous\n {2}expected: nothing of post \d+, which its rule to read hides\n {2}got: its title\n {2}remedy: let the route read as its caller/,
  )
  assert.equal(await published, 'no fault')
})
