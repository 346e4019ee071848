/** How a service starts: its settings, its port, its folder, and what it prints. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { explain } from '#cli/terminal.ts'
import { holdStore } from '#engines/sqlite/file.ts'
import { Failure } from '#errors.ts'
import { command, config, duet, folderOf, plain, program, secret, serve } from '#test/market.ts'
import { childrenOf } from '#test/postgres/tools/family.ts'
import { inTime, until } from '#test/support/wait.ts'
import { migrated, oneLine } from './one-line.ts'

const { folder, freshStore } = folderOf('start')

test('wrong settings are reported all at once, a line each, before anything is touched [H14]', async () => {
  const { file, settings } = await freshStore()
  const bad = { ...settings, DUET_PORT: 'x', DUET_SIGNUP: 'maybe', DUET_NONSENSE: '1' }
  for (const { code, stderr } of await Promise.all([
    command(['serve'], bad),
    command(['migrate'], bad),
  ])) {
    assert.equal(code, 1)
    const lines = stderr.trim().split('\n')
    assert.deepEqual(lines.map(line => /^duet: (\w+) /.exec(line)?.[1]).sort(), [
      'DUET_NONSENSE',
      'DUET_PORT',
      'DUET_SIGNUP',
    ])
  }
  assert.equal(existsSync(file), false)
})

test('the mark of a hand-over from an older Node does not count as a setting', async () => {
  for (const starter of [process.pid, 1]) {
    const { code, stderr } = await duet(['migrate'], {
      ...(await freshStore()).settings,
      DUET_HANDED_OVER_BY: String(starter),
    })
    assert.deepEqual([code, stderr], [0, ''])
  }
})

test('a port in use is named, with how to take another', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => taken.once('listening', resolve))
  const { port } = taken.address() as AddressInfo
  await oneLine(
    [['a port in use', ['serve'], 1, new RegExp(`port ${port} is in use already; set DUET_PORT`)]],
    { ...(await migrated((await freshStore()).settings)), DUET_PORT: String(port) },
    duet, // it has opened the store by then, which ends with its process
  )
  taken.close()
})

test('an address that this machine does not have is named', async () => {
  await oneLine(
    [['a foreign address', ['serve'], 1, /no address 192\.0\.2\.1; set DUET_HOST/]],
    { ...(await migrated((await freshStore()).settings)), DUET_PORT: '0', DUET_HOST: '192.0.2.1' },
    duet,
  )
})

test('a host name without an address is named, whatever the resolver says', () => {
  for (const code of ['ENOTFOUND', 'EAI_AGAIN'])
    assert.match(
      explain(Object.assign(new Error(`getaddrinfo ${code}`), { code, hostname: 'nowhere' })),
      /^no address of nowhere is known; set DUET_HOST/,
    )
  const cause = Object.assign(new Error('getaddrinfo ENOTFOUND nowhere'), { code: 'ENOTFOUND' })
  assert.equal(
    explain(new Failure('the bucket was not answered', { cause })),
    'the bucket was not answered',
  )
})

test('a data folder that cannot be made or written is named', async () => {
  const inTheWay = join(folder, 'in-the-way')
  writeFileSync(inTheWay, 'a file')
  const settings = {
    DUET_DATABASE_URL: `sqlite:${inTheWay}/data/duet.db`,
    DUET_AUTH_SECRET: secret,
    DUET_PORT: '0',
  }
  const message =
    /in-the-way\/data.* cannot be made, a file is in the way; name another path in DUET_DATABASE_URL/
  await oneLine(
    [
      ['migrate', ['migrate'], 1, message],
      ['serve', ['serve'], 1, message],
      ['seed', ['seed'], 1, message],
    ],
    settings,
  )
  await oneLine([['a folder as the store', ['migrate'], 1, /the store .* cannot be opened/]], {
    ...settings,
    DUET_DATABASE_URL: `sqlite:${folder}`,
  })
})

test('production does not start without a key for tokens, nor with a weak one, and never shows it [E10]', async () => {
  const production = {
    ...(await freshStore()).settings,
    DUET_ENV: 'production',
    DUET_PORT: '0',
    DUET_HOST: '127.0.0.1',
  }
  const { DUET_AUTH_SECRET: _, ...keyless } = production
  await oneLine(
    [
      [
        'no key',
        ['serve'],
        1,
        /production needs a key for tokens: set DUET_AUTH_SECRET .*DUET_JWKS_URL or DUET_JWKS_FILE/,
      ],
    ],
    keyless,
  )
  for (const weak of ['hunter2', 'supersecretsupersecretsupersecret']) {
    const { code, stderr } = await command(['serve'], { ...production, DUET_AUTH_SECRET: weak })
    assert.equal(code, 1)
    assert.match(stderr, /^duet: DUET_AUTH_SECRET is too weak: [^\n]+openssl rand[^\n]*\n$/)
    assert.ok(!stderr.includes(weak))
  }
  await oneLine(
    [['keys that are not there', ['serve'], 1, /keys\.json/]],
    { ...keyless, DUET_JWKS_FILE: join(folder, 'keys.json') },
    duet,
  )
})

test('the curl lines that serve prints work as they stand', async () => {
  const { settings } = await freshStore()
  const service = await serve(settings)
  const lines = service
    .stderr()
    .split('\n')
    .filter(line => line.includes('curl'))
  assert.equal(lines.length, 2)
  for (const line of lines) {
    const [, url = ''] = /curl -s (\S+)/.exec(line) ?? []
    const headers = Object.fromEntries(
      [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    )
    const [, body] = /-d '([^']+)'/.exec(line) ?? []
    const response = await fetch(url, { headers, ...(body && { method: 'POST', body }) })
    assert.equal(response.status, 200)
    const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown }
    assert.equal(errors, undefined)
    assert.ok(JSON.stringify(data).includes('Ada'))
  }
  await service.end()
})

test('production prints where it listens and no token', async () => {
  const service = await serve({
    ...(await migrated((await freshStore()).settings)),
    DUET_ENV: 'production',
    DUET_HOST: '127.0.0.1',
  })
  // By which nobody opens a debugger either.
  service.child.kill('SIGUSR1')
  await service.end()
  assert.match(service.stderr(), /^Duet \S+ listens on http:\/\/127\.0\.0\.1:\d+\n$/)
})

const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
/** Runs a program as the first process of a container. */
const contained = ['--pid', '--fork', '--kill-child', ...asRoot]
const cannotContain =
  spawnSync('unshare', [...contained, 'true']).status !== 0 &&
  'NOT TESTED: nothing can be the first process of a container here'

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)
  test(`the first process of a container ends on ${signal} while it waits for its store`, {
    skip: cannotContain,
  }, async t => {
    const { file, settings } = await freshStore()
    t.after(holdStore(file))
    const env = { ...plain, ...settings, DUET_STORE_WAIT: '1h', DUET_PORT: '0' }
    const outer = spawn('unshare', [...contained, process.execPath, program, 'serve', ...config], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    t.after(() => outer.kill('SIGKILL'))
    const ended = once(outer, 'exit')
    let said = ''
    outer.stderr.setEncoding('utf8').on('data', text => {
      said += text
    })
    await until('it waits', () => said.includes('waiting up to') || outer.exitCode !== null)
    const [first = 0] = await childrenOf(outer.pid)
    process.kill(first, signal)
    assert.deepEqual(await inTime('it ends', ended), [code, null], said)
  })
