/** A database that is unavailable, or refuses the program: the answers to callers and the log. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command } from '#test/commands.ts'
import type { Settings } from '#test/duet.ts'
import { ask } from '#test/postgres/tools/ask.ts'
import type { Faults } from '#test/postgres/tools/proxy.ts'
import type { Postgres } from '#test/postgres/tools/server.ts'
import { freePort } from '#test/support/ports.ts'
import { pause, until } from '#test/support/wait.ts'
import { secret } from '../../world.ts'
import { assertWell, type Database, freshOn, password, type Workload } from './workload.ts'

/** Refuses all connections for so many requests, and so many seconds at least: callers get Retry-After, and the log stays short. */
export const away = async (workload: Workload, faults: Faults, requests: number, seconds = 0) => {
  // Where files are is told when the service starts, which may come after its first answers.
  const log = () =>
    workload.service
      .stdout()
      .split('\n')
      .filter(line => line !== '' && !line.includes('files are in the folder'))
  // On a busy machine a connection may have come too late before, which was told as well.
  const earlier = log().length
  faults.refuse()
  faults.cut()
  const begun = performance.now()
  const isOver = () => performance.now() - begun >= seconds * 1000
  for (let asked = 0; asked < requests || !isOver(); asked++) {
    await pause(50)
    const answers = await Promise.all([
      workload.send(`GET /api/products/${workload.product}`),
      workload.send(`POST /api/orders`, {
        body: { items: [{ productId: workload.product, quantity: 1 }] },
      }),
    ])
    for (const { status, headers, json } of answers) {
      assert.deepEqual([status, json.error.code], [503, 'UNAVAILABLE'])
      const seconds = Number(headers.get('retry-after'))
      assert.ok(seconds >= 1 && seconds <= 3, `Retry-After: ${seconds}`)
      assert.doesNotMatch(json.error.message, /127\.0\.0\.1|postgres/)
    }
    assert.equal((await workload.send('GET /healthz')).status, 200)
  }
  const ready = await workload.send('GET /readyz')
  assert.deepEqual([ready.status, ready.text], [503, 'the database does not answer\n'])
  await faults.heal()
  await workload.insist(`GET /api/products/${workload.product}`)
  assertWell(workload)
  await until('both are told', () => log().length >= earlier + 2)
  const [away, back, ...more] = log().slice(earlier)
  assert.match(away ?? '', /"level":50,.*the database cannot be used: /)
  assert.match(back ?? '', /"level":40,.*the database can be used again/)
  assert.deepEqual(more, [])
}

/** Lets users in without a password as before, but for those named `locked…`. */
const lockIn = async ({ folder, url }: Postgres) => {
  const file = join(folder, 'data/pg_hba.conf')
  const first = 'host all /^locked 127.0.0.1/32 scram-sha-256\n'
  const older = 'host all locked 127.0.0.1/32 scram-sha-256\n'
  const version = Number(await ask(url, 'show server_version_num'))
  writeFileSync(file, `${version >= 160_000 ? first : older}${readFileSync(file, 'utf8')}`)
  await ask(url, `create role locked login password '${password}'`)
  await ask(url, 'select pg_reload_conf()')
}

const at = ({ url }: Database, change: (url: URL) => void): Settings => {
  const changed = new URL(url)
  change(changed)
  return { DUET_DATABASE_URL: changed.href, DUET_AUTH_SECRET: secret, DUET_PORT: '0' }
}

/** Each way of a refused connection, with the text of its line. */
const refusals = async (server: Postgres): Promise<[string, Settings, RegExp][]> => {
  await lockIn(server)
  const full = await freshOn(server)
  const bare = await freshOn(server, { bare: true })
  await ask(
    server.url,
    `revoke connect on database ${new URL(bare.url).pathname.slice(1)} from public`,
  )
  await ask(full.url, 'revoke create on schema public from public')
  const port = String(await freePort())
  const nobody = at(full, url => {
    url.port = port
  })
  const wrong = at(full, url => {
    url.username = 'locked'
    url.password = `${password}-not`
  })
  const none = at(full, url => {
    url.username = 'locked'
    url.password = ''
  })
  const unknown = at(full, url => {
    url.username = 'nobody_here'
  })
  const nowhere = at(full, url => {
    url.pathname = '/no_such_store'
  })
  const closed = at(bare, url => {
    url.username = 'locked'
  })
  const rightless = at(full, url => {
    url.username = 'locked'
  })
  const plain = at(full, url => {
    url.searchParams.set('sslmode', 'require')
  })
  return [
    ['it offers no TLS', plain, /offers no TLS \(.*SSL.*\): set ssl = on/],
    [
      'the password is wrong',
      wrong,
      /refuses the user \(password .*locked.*\): correct .* password/,
    ],
    ['the password is missing', none, /refuses the user \(.*password.*\): correct .* password/],
    [
      'the database is unknown',
      nowhere,
      /cannot be used \(database "no_such_store" does not exist\): create it/,
    ],
    ['the user is unknown', unknown, /refuses the user \(role "nobody_here" does not exist\)/],
    ['nothing listens there', nobody, /cannot be reached \(.*ECONNREFUSED.*\): start it/],
    [
      'the database is closed to the user',
      closed,
      /cannot be used \(permission denied for database .*\): give/,
    ],
    [
      'the tables are closed to the user',
      rightless,
      /cannot be used \(permission denied for table .*\): give/,
    ],
  ]
}

/** A refused connection is reported in one line with the address and the remedy. */
export const refused = async (server: Postgres) => {
  for (const [name, settings, pattern] of await refusals(server))
    for (const asked of ['serve', 'migrate']) {
      const { code, stdout, stderr } = await command([asked], settings)
      assert.deepEqual([code, stdout], [1, ''], name)
      assert.match(stderr, /^duet: [^\n]*postgres:\/\/127\.0\.0\.1:\d+\/\w+ [^\n]+\n$/, name)
      assert.match(stderr, pattern, name)
      assert.doesNotMatch(stderr, /hunter2/, name)
    }
}
