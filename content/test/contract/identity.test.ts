/**
 * Callers whom an identity provider names by subjects: whose rows they are, how the first write makes one, and what becomes of those
 * who are deleted. And a content that has no users at all.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { loadConfig } from '#config.ts'
import { modelOf } from '#content.ts'
import { createLimiter } from '#http/limit/limiter.ts'
import type { Entity } from '#model/entity.ts'
import { choice } from '#model/field.ts'
import { developerOf } from '#model/viewers.ts'
import { tokenCommand } from '#pages/start.ts'
import { authOf } from '#serve/auth.ts'
import { kitchen, larder } from '#test/support/kitchen/index.ts'
import {
  type Answered,
  type Asking,
  createWorld,
  forAllTests,
  pluck,
  secret,
  type World,
} from '../world.ts'

/** Ada and Ben, and a dish of each. */
const rows = (await kitchen.demo?.()) ?? {}

/** The headers of a token for a subject. */
const bearer = async (sub: string, claims = {}, role = 'cook') => {
  const { viewers } = kitchen
  const token = await mint({ sub, role, ttl: 3600, viewers, claims }, secret, Date.now())
  return { Authorization: `Bearer ${token}` }
}

/** The answer is this error, as a problem. */
const refuses = ({ status, json, text }: Answered, expected: number, code: string): void =>
  assert.deepEqual([status, json.status, json.code], [expected, expected, code], text)

type Ask = World['ask']

const titles = async (ask: Ask, asking: Asking) => {
  const { status, json } = await ask('GET /api/v1/dishes', asking)
  assert.equal(status, 200)
  return pluck(json.data, 'title').toSorted()
}

/** The dishes of whom a subject speaks for, as both APIs list them. */
const dishesOf = async ({ ask, gql }: World, headers: Record<string, string>) => {
  const ofRest = await titles(ask, { headers })
  const { json } = await gql('{ dishes { title } }', { headers })
  assert.deepEqual(pluck(json.data.dishes, 'title').toSorted(), ofRest)
  return ofRest
}

const cooks = async ({ rows }: World, subject: string) =>
  (await rows('select id, name, email from cooks where subject = ?1', subject)).map(
    ([id, ...rest]) => [Number(id), ...rest],
  )

test('the viewers of docs/policy.md are those of the kitchen', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const [, example = ''] =
    /```ts\nexport (const viewers = .*?)```/s.exec(read('../../../docs/policy.md')) ?? []
  assert.notEqual(example, '')
  assert.ok(read('../../../test/support/kitchen/index.ts').includes(example))
})

describe('a token with a subject', () => {
  const world = forAllTests(() => createWorld({ content: kitchen, rows }))

  test('speaks for the row that has it, for reading and writing', async () => {
    const ada = await bearer('idp|1')
    assert.deepEqual(await dishesOf(world, ada), ['Soup'])
    const { status, json } = await world.ask('POST /api/v1/dishes', {
      headers: ada,
      body: { title: 'Stew' },
    })
    assert.deepEqual([status, json.cookId], [201, 1])
    assert.deepEqual(await dishesOf(world, ada), ['Soup', 'Stew'])
    assert.deepEqual(await dishesOf(world, await bearer('idp|2')), ['Pie'])
    // What a caller may not see is not there.
    refuses(await world.ask('DELETE /api/v1/dishes/2', { headers: ada }), 404, 'NOT_FOUND')
    const gone = await world.ask(`DELETE /api/v1/dishes/${json.id}`, { headers: ada })
    assert.equal(gone.status, 204)
  })

  test('that looks like an id speaks for nobody [E17]', async () => {
    const hostile = await bearer('1', { name: 'Mallory' })
    assert.deepEqual(await dishesOf(world, hostile), [])
    refuses(
      await world.ask('PATCH /api/v1/dishes/1', { headers: hostile, body: { title: 'x' } }),
      404,
      'NOT_FOUND',
    )
    refuses(
      await world.ask('PATCH /api/v1/cooks/1', { headers: hostile, body: { name: 'x' } }),
      403,
      'FORBIDDEN',
    )
    // Its first write made a row of its own.
    const [[id] = []] = await cooks(world, '1')
    assert.ok(Number(id) > 2)
  })

  test('is whom a condition means by the viewer, and without a row it is nobody', async () => {
    const [ada, ben] = [await bearer('idp|1'), await bearer('idp|2')]
    const share = (isShared: boolean) =>
      world.ask('PATCH /api/v1/dishes/1', { headers: ada, body: { isShared } })
    assert.equal((await share(true)).status, 200)
    for (let n = 0; n < 3; n++) {
      assert.deepEqual(await dishesOf(world, ada), ['Soup'])
      assert.deepEqual(await dishesOf(world, ben), ['Pie', 'Soup'])
      assert.equal((await world.ask('GET /api/v1/dishes/1', { headers: ben })).status, 200)
      // The rule names the viewer, so it lets nobody through who has no row.
      assert.deepEqual(await dishesOf(world, await bearer('nobody')), [])
    }
    const nested = '{ cooks { name dishes { title } } }'
    const below = async (headers: Record<string, string>) =>
      pluck(
        pluck((await world.gql(nested, { headers })).json.data.cooks, 'dishes').flat(),
        'title',
      ).toSorted()
    assert.deepEqual(await below(ben), ['Pie', 'Soup'])
    assert.deepEqual(await below(await bearer('nobody')), [])
    refuses(
      await world.ask('PATCH /api/v1/dishes/1', { headers: ben, body: { title: 'x' } }),
      403,
      'FORBIDDEN',
    )
    assert.equal((await share(false)).status, 200)
    assert.deepEqual(await dishesOf(world, ben), ['Pie'])
  })

  test('is logged as its digest', async () => {
    await dishesOf(world, await bearer('idp|1'))
    const event = world.events.findLast(({ kind }) => kind === 'request')
    const digest = hash('sha256', 'idp|1', 'base64url')
    assert.equal(event?.kind === 'request' && event.viewer, digest)
  })

  test('compares character by character', async () => {
    for (const other of ['IDP|1', 'idp|1 ', ' idp|1', 'idp|%', "idp|1' or '1'='1"])
      assert.deepEqual(await dishesOf(world, await bearer(other)), [])
  })

  test('shows no subject to anybody', async () => {
    const { text } = await world.ask('GET /api/v1/cooks', { headers: await bearer('idp|2') })
    assert.doesNotMatch(text, /idp/)
    const given = {
      headers: await bearer('new', { name: 'New' }),
      body: { name: 'x', subject: 'idp|1' },
    }
    refuses(await world.ask('POST /api/v1/cooks', given), 422, 'VALIDATION_ERROR')
  })

  test('of somebody who is blocked reads and does not write', async () => {
    await world.change("update cooks set state = 'out' where id = 2 returning id")
    const ben = await bearer('idp|2')
    assert.deepEqual(await dishesOf(world, ben), ['Pie'])
    const { status, json } = await world.ask('POST /api/v1/dishes', {
      headers: ben,
      body: { title: 'x' },
    })
    assert.deepEqual(
      [status, json.detail],
      [403, 'The cook of this token may not write, as its state is out'],
    )
    await world.change("update cooks set state = 'in' where id = 2 returning id")
  })

  test('has its keys to itself, before and after it has a row', async () => {
    const keyed = async (sub: string) => ({
      headers: { ...(await bearer(sub, { name: sub })), 'Idempotency-Key': 'same' },
      body: { title: 'Once' },
    })
    const first = await world.ask('POST /api/v1/dishes', await keyed('key-1'))
    const again = await world.ask('POST /api/v1/dishes', await keyed('key-1'))
    const other = await world.ask('POST /api/v1/dishes', await keyed('key-2'))
    assert.deepEqual([first.status, again.status, other.status], [201, 201, 201])
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.equal(first.json.id, again.json.id)
    assert.notEqual(first.json.id, other.json.id)
    const scopes = await world.rows('select distinct scope from replies')
    assert.equal(scopes.length, 2)
    for (const [scope] of scopes) assert.match(String(scope), /^subject [\w-]{43}$/)
  })
})

describe('the first write of a subject', () => {
  const world = forAllTests(() => createWorld({ content: kitchen, rows }))

  test('makes its row of the claims, and no read does', async () => {
    const headers = await bearer('cleo', { name: ' Cleo ', email: 'cleo@example.org' })
    assert.deepEqual(await dishesOf(world, headers), [])
    assert.deepEqual(await cooks(world, 'cleo'), [])
    const { status, json } = await world.ask('POST /api/v1/dishes', {
      headers,
      body: { title: 'Tart' },
    })
    assert.equal(status, 201)
    assert.deepEqual(await cooks(world, 'cleo'), [[json.cookId, 'Cleo', 'cleo@example.org']])
    assert.deepEqual(await dishesOf(world, headers), ['Tart'])
  })

  test('by a mutation makes it too, once for all its fields', async () => {
    const headers = await bearer('dora', { name: 'Dora' })
    const twice =
      'mutation { a: createDish(input: {title: "A"}) { title cook { name } } b: createDish(input: {title: "B"}) { cook { name } } }'
    const { json } = await world.gql(twice, { headers })
    assert.deepEqual(json.data, {
      a: { title: 'A', cook: { name: 'Dora' } },
      b: { cook: { name: 'Dora' } },
    })
    assert.equal((await cooks(world, 'dora')).length, 1)
  })

  test('that lacks a claim is 422 and names the claim', async () => {
    const headers = await bearer('nameless')
    const { status, json } = await world.ask('POST /api/v1/dishes', {
      headers,
      body: { title: 'x' },
    })
    assert.equal(status, 422)
    assert.equal(
      json.detail,
      'name is required: the first write makes a cook of the token, and its claim name gives this',
    )
    const { json: errors } = await world.gql(
      'mutation { createDish(input: {title: "x"}) { id } }',
      { headers },
    )
    assert.deepEqual(
      [errors.errors[0].extensions.code, errors.errors[0].path],
      ['BAD_USER_INPUT', ['createDish']],
    )
    for (const name of [7, ['Ada'], 'x'.repeat(41), 'a\0', ''])
      refuses(
        await world.ask('POST /api/v1/dishes', {
          headers: await bearer('nameless', { name }),
          body: { title: 'x' },
        }),
        422,
        'VALIDATION_ERROR',
      )
    assert.deepEqual(await cooks(world, 'nameless'), [])
  })

  test('with the address of another row takes nobody’s row over [E17]', async () => {
    const headers = await bearer('mallory', { name: 'Mallory', email: 'ada@example.org' })
    refuses(
      await world.ask('POST /api/v1/dishes', { headers, body: { title: 'x' } }),
      409,
      'CONFLICT',
    )
    assert.deepEqual(await cooks(world, 'mallory'), [])
    assert.deepEqual(await dishesOf(world, headers), [])
  })

  test('of which two come at once, or ten, makes one row [E17]', async () => {
    for (let round = 0; round < 5; round++) {
      const sub = `twins-${round}`
      const headers = await bearer(sub, { name: 'Twin', email: `${sub}@example.org` })
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          n % 2 === 0
            ? world.ask('POST /api/v1/dishes', { headers, body: { title: `${n}` } })
            : world.gql(`mutation { createDish(input: {title: "${n}"}) { cookId } }`, { headers }),
        ),
      )
      for (const { text } of answers) assert.doesNotMatch(text, /error|FORBIDDEN|CONFLICT/)
      assert.equal((await cooks(world, sub)).length, 1)
      assert.equal((await dishesOf(world, headers)).length, 10)
    }
  })

  test('may be its own sign-up, by its body and not by its claims', async () => {
    const headers = await bearer('eve')
    const made = await world.ask('POST /api/v1/cooks', { headers, body: { name: 'Eve' } })
    assert.equal(made.status, 201)
    assert.deepEqual(await cooks(world, 'eve'), [[made.json.id, 'Eve', null]])
    refuses(
      await world.ask('POST /api/v1/cooks', { headers, body: { name: 'Eve' } }),
      409,
      'CONFLICT',
    )
    const by = 'mutation { createCook(input: {name: "Fay"}) { name } }'
    const { json } = await world.gql(by, { headers: await bearer('fay') })
    assert.deepEqual(json.data, { createCook: { name: 'Fay' } })
    assert.equal((await cooks(world, 'fay')).length, 1)
  })

  test('that nobody needs a row for is done without one by a superuser without claims', async () => {
    const program = await bearer('importer@clients', {}, 'chef')
    const { status } = await world.ask('POST /api/v1/spices', {
      headers: program,
      body: { name: 'Cumin' },
    })
    assert.equal(status, 201)
    assert.deepEqual(await cooks(world, 'importer@clients'), [])
    const refused = await world.ask('POST /api/v1/dishes', {
      headers: program,
      body: { title: 'x' },
    })
    assert.deepEqual(
      [refused.status, refused.json.detail],
      [403, 'This token names no cook, and only a cook may do this: use a token of one'],
    )
  })

  test('of the token that the start prints makes a row, as the command beside it says', async () => {
    const set = { DUET_AUTH_SECRET: secret, DUET_AUTH_ISSUER: 'https://x', DUET_AUTH_AUDIENCE: 'x' }
    const Authorization = `Bearer ${await authOf(loadConfig(set), kitchen).superuserToken()}`
    const asking = { headers: { Authorization }, body: { title: 'x' } }
    assert.equal((await world.ask('POST /api/v1/dishes', asking)).status, 201)
    const [[, ...made] = []] = await cooks(world, 'developer')
    assert.deepEqual(made, ['Developer', 'developer@example.org'])
    const cook = kitchen.entities.cook as Entity
    const fields = { ...cook.fields, name: choice(["it's"]) }
    const command = tokenCommand({ ...kitchen, entities: { cook: { ...cook, fields } } })
    assert.match(command, / --role chef --claims '{"name":"it'\\''s","email":.*}'$/)
    // What a token has from elsewhere is no claim beside it.
    const signUp = { name: 'sub', email: ['realm_access', 'mail'], state: ['who', 'state'] }
    const viewers = { ...kitchen.viewers, signUp }
    assert.deepEqual(developerOf({ ...kitchen, viewers }).claims, { who: { state: 'in' } })
  })

  test('finds the row that came past the service', async () => {
    await world.change(
      "insert into cooks (subject, name, created_at) values ('late', 'Late', 0) returning id",
    )
    const headers = await bearer('late', { name: 'Other' })
    assert.equal(
      (await world.ask('POST /api/v1/dishes', { headers, body: { title: 'x' } })).status,
      201,
    )
    assert.deepEqual(
      (await cooks(world, 'late')).map(([, name]) => name),
      ['Late'],
    )
  })
})

describe('the sign-up by a first write', () => {
  const closed = () =>
    modelOf(
      kitchen,
      kitchen.decide(loadConfig({ DUET_JOINING: 'closed' }, kitchen.settings).content),
    )

  test('is closed by the switch of the content', async () => {
    await using world = await createWorld({ content: kitchen, rows, model: closed() })
    const headers = await bearer('hal', { name: 'Hal' })
    const refused = await world.ask('POST /api/v1/dishes', { headers, body: { title: 'x' } })
    assert.deepEqual(
      [refused.status, refused.json.detail],
      [403, 'This token names no cook, and only a cook may do this: use a token of one'],
    )
    // What is nobody's it may do.
    assert.equal(
      (await world.ask('POST /api/v1/spices', { headers, body: { name: 'x' } })).status,
      201,
    )
    assert.deepEqual(await cooks(world, 'hal'), [])
    // Those who have a row go on.
    const ada = { headers: await bearer('idp|1'), body: { title: 'x' } }
    assert.equal((await world.ask('POST /api/v1/dishes', ada)).status, 201)
  })

  test('counts for the address, whatever the subject is', async () => {
    const limiter = createLimiter({
      limit: 1000,
      now: () => 0,
      creations: { cook: 2 },
      superuser: 'chef',
    })
    const world = await createWorld({ content: kitchen, rows, edge: { limiter } })
    try {
      const write = async (sub: string) =>
        (
          await world.ask('POST /api/v1/dishes', {
            headers: await bearer(sub, { name: sub }),
            body: { title: 'x' },
          })
        ).status
      assert.deepEqual([await write('i'), await write('j'), await write('k')], [201, 201, 429])
      assert.deepEqual(await cooks(world, 'k'), [])
      // Who has a row is not counted.
      assert.deepEqual([await write('i'), await write('idp|1')], [201, 201])
    } finally {
      await world.close()
      limiter.close()
    }
  })
})

describe('a user who is deleted and comes back', () => {
  const world = forAllTests(() => createWorld({ content: kitchen, rows }))

  /** Reads go on, and every write is 403. */
  const isGone = async (headers: Record<string, string>, sub: string) => {
    const why = 'The cook of this token does not exist (any more)'
    assert.deepEqual(await dishesOf(world, headers), [])
    assert.equal((await world.ask('GET /api/v1/cooks', { headers })).status, 200)
    for (const [line, body] of [
      ['POST /api/v1/dishes', { title: 'x' }],
      ['POST /api/v1/dishes', {}],
      ['POST /api/v1/spices', { name: 'x' }],
      ['PATCH /api/v1/spices/1', { name: 'x' }],
      ['POST /api/v1/cooks', { name: 'Back' }],
    ] as const) {
      const { status, json } = await world.ask(line, { headers, body })
      assert.deepEqual([status, json.detail], [403, why], line)
    }
    for (const mutation of [
      'createDish(input: {title: "x"})',
      'createCook(input: {name: "Back"})',
    ]) {
      const { json } = await world.gql(`mutation { ${mutation} { id } }`, { headers })
      assert.deepEqual([json.errors[0].extensions.code, json.errors[0].message], ['FORBIDDEN', why])
    }
    assert.deepEqual(await cooks(world, sub), [])
  }

  test('stays deleted, whoever made the row and deleted it [E17]', async () => {
    const claims = { name: 'Kit', email: 'kit@example.org' }
    const self = await bearer('kit', claims)
    const { json } = await world.ask('POST /api/v1/dishes', { headers: self, body: { title: 'x' } })
    assert.equal(
      (await world.ask(`DELETE /api/v1/cooks/${json.cookId}`, { headers: self })).status,
      204,
    )
    await isGone(self, 'kit')

    // Rows of a demo or an import, deleted past the service.
    await world.change('delete from cooks where id = 1 returning id')
    await isGone(await bearer('idp|1', { name: 'Ada' }), 'idp|1')

    // Made by its own body.
    const own = await bearer('lea')
    const made = await world.ask('POST /api/v1/cooks', { headers: own, body: { name: 'Lea' } })
    await world.change('delete from cooks where id = ?1 returning id', made.json.id)
    await isGone(own, 'lea')

    // Made past the service, and deleted so after it wrote.
    await world.change(
      "insert into cooks (subject, name, created_at) values ('pat', 'Pat', 0) returning id",
    )
    const past = await bearer('pat', { name: 'Pat' })
    await world.ask('POST /api/v1/dishes', { headers: past, body: { title: 'x' } })
    await world.change("delete from cooks where subject = 'pat' returning id")
    await isGone(past, 'pat')

    // What is kept of them is a digest.
    const kept = (await world.rows('select digest from viewer_subjects')).flat().join(' ')
    assert.doesNotMatch(kept, /kit|idp|lea/)
  })

  test('is gone also for requests that come while the row is deleted', async () => {
    for (let round = 0; round < 5; round++) {
      const sub = `race-${round}`
      const headers = await bearer(sub, { name: sub })
      const { json } = await world.ask('POST /api/v1/dishes', { headers, body: { title: 'x' } })
      const write = () => world.ask('POST /api/v1/dishes', { headers, body: { title: 'y' } })
      const answers = await Promise.all([
        write(),
        world.ask(`DELETE /api/v1/cooks/${json.cookId}`, { headers }),
        write(),
        write(),
      ])
      for (const { status } of answers)
        assert.ok([201, 204, 403, 409].includes(status), String(status))
      await isGone(headers, sub)
      assert.deepEqual(await world.rows('select 1 from dishes where cook_id = ?1', json.cookId), [])
    }
  })

  test('is seen by reads at once, from the cache too', async () => {
    const headers = await bearer('mia', { name: 'Mia' })
    const read = () => dishesOf(world, headers)
    for (let n = 0; n < 3; n++) assert.deepEqual(await read(), [])
    const { json } = await world.ask('POST /api/v1/dishes', { headers, body: { title: 'Flan' } })
    for (let n = 0; n < 3; n++) assert.deepEqual(await read(), ['Flan'])
    const read1 = () => world.ask(`GET /api/v1/dishes/${json.id}`, { headers })
    for (let n = 0; n < 3; n++) assert.equal((await read1()).status, 200)
    // Another subject for the row: the one before speaks for it no more.
    await world.change("update cooks set subject = 'mia-2' where id = ?1 returning id", json.cookId)
    assert.deepEqual(await read(), [])
    assert.notEqual((await read1()).status, 200)
    assert.deepEqual(await dishesOf(world, await bearer('mia-2')), ['Flan'])
  })
})

describe('a content without users', () => {
  const world = forAllTests(() =>
    createWorld({ content: larder, rows: { spice: [{ name: 'Salt' }] } }),
  )

  test('serves anonymous callers, and programs that write as nobody', async () => {
    assert.equal((await world.ask('GET /api/v1/spices')).json.data.length, 1)
    refuses(await world.ask('POST /api/v1/spices', { body: { name: 'x' } }), 401, 'UNAUTHENTICATED')
    for (const [sub, role] of [
      ['stock@clients', 'service'],
      ['7', 'admin'],
    ] as const) {
      const token = await mint({ sub, role, ttl: 60 }, secret, Date.now())
      const headers = { Authorization: `Bearer ${token}` }
      const { status } = await world.ask('POST /api/v1/spices', { headers, body: { name: sub } })
      assert.equal(status, 201)
      const { json } = await world.gql(
        `mutation { createSpice(input: {name: "${role}"}) { name } }`,
        { headers },
      )
      assert.deepEqual(json.data, { createSpice: { name: role } })
    }
    const token = await mint({ sub: 'x', role: 'user', ttl: 60 }, secret, Date.now())
    const { status } = await world.ask('GET /api/v1/spices', {
      headers: { Authorization: `Bearer ${token}` },
    })
    assert.equal(status, 401)
  })

  test('says in its documents who may', async () => {
    const { json } = await world.ask('GET /api/v1/openapi.json')
    assert.match(JSON.stringify(json.paths['/spices']), /May be done by callers with a token\./)
  })
})
