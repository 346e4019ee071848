import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { explain } from '#cli/explain.ts'
import { importRows } from '#cli/import.ts'
import { migrate } from '#cli/migrate.ts'
import { openapi } from '#cli/openapi.ts'
import { schema } from '#cli/schema.ts'
import { seed } from '#cli/seed.ts'
import { serve as serveCommand } from '#cli/serve.ts'
import { token } from '#cli/token.ts'
import { UsageError } from '#cli/usage.ts'
import { content } from '#content/index.ts'
import type { CliCommand } from '#content.ts'
import { versions } from '#model/version.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { command } from '../commands.ts'
import { duet, folderOf, plain, serve } from '../duet.ts'
import { secret } from '../world.ts'

const { folder, fresh, freshStore } = folderOf('commands')
const commands = [
  'serve',
  'migrate',
  'seed',
  'schema',
  'openapi',
  'types',
  'token',
  'import',
  'export',
  'backup',
  'restore',
  'move',
  'contract',
]

test('every command has a help that begins with how it is used, whatever the settings are', async () => {
  const helps = { serve: serveCommand, migrate, schema, openapi, seed, token, import: importRows }
  for (const [name, { help }] of Object.entries(helps)) {
    const text = typeof help === 'string' ? help : await help(content)
    assert.ok(text.startsWith(`Usage: duet ${name}`), text)
  }
  const { code, stdout, stderr } = await duet(['serve', '--help'], { DUET_PORT: 'nonsense' })
  assert.deepEqual([code, stdout, stderr], [0, `${serveCommand.help}\n`, ''])
})

test('the overview names every command, as help with exit 0 and for nothing at all with exit 2', async () => {
  const [asked, bare] = await Promise.all([duet(['--help']), duet([])])
  assert.equal(asked.code, 0)
  assert.equal(bare.code, 2)
  for (const name of commands) assert.match(asked.stdout, new RegExp(`^ {2}${name} {2,}\\S`, 'm'))
  assert.equal(bare.stdout, asked.stdout)
})

test('schema prints what a server shows of itself, and neither opens nor makes a store', async () => {
  const { file, settings } = fresh()
  const { code, stdout, stderr } = await duet(['schema'], { ...settings, DUET_ENV: 'production' })
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(existsSync(file), false)
  const service = await serve(settings)
  const served = await fetch(`${service.url}/graphql/schema.graphql`)
  assert.equal(stdout, await served.text())
  await service.end()
})

test('openapi prints the document of a version that a server shows, in lines that can be read', async () => {
  const { file, settings } = fresh()
  for (const version of versions) {
    const { code, stdout } = await command(['openapi', '--version', `${version}`], settings)
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout), await openApiOf(content, version))
    assert.ok(stdout.split('\n').length > 1000)
    assert.ok(Buffer.byteLength(stdout) <= 200_000)
  }
  const unknown = await command(['openapi', '--version', '99'], settings)
  assert.deepEqual([unknown.code, existsSync(file)], [2, false])
  assert.match(unknown.stderr, /--version must be 1.* or \d, not 99/)
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const { code, stdout } = await duet(['--version'])
  assert.deepEqual([code, stdout], [0, `duet ${version}\n`])
})

type Case = readonly [string, readonly string[], number, RegExp]

/** Settings of a store that is up to date, so that `serve` reports no migrations. */
const migrated = async () => {
  const { settings } = await freshStore()
  assert.equal((await command(['migrate'], settings)).code, 0)
  return settings
}

/** Runs the cases; each must print one line on standard error and nothing else. */
const oneLine = async (
  cases: readonly Case[],
  settings: Readonly<Record<string, string>>,
  run: typeof command | typeof duet = command,
) => {
  const runs = await Promise.all(cases.map(([, args]) => run(args, settings)))
  for (const [index, { code, stdout, stderr }] of runs.entries()) {
    const [what, , status, message] = cases[index] as Case
    assert.equal(code, status, `${what}: ${stderr}`)
    assert.equal(stdout, '', what)
    assert.match(stderr, /^duet: [^\n]+\n$/, what)
    assert.match(stderr, message, what)
  }
}

test('wrong usage is one line that names what is wrong and where to read on, and exit 2', async () => {
  const { file, settings } = await freshStore()
  await oneLine(
    [
      [
        'a value that looks like an option',
        ['seed', '--posts', '-1'],
        2,
        /--posts needs a value; one that begins with - is given as --posts=-1/,
      ],
      ['an unknown command', ['destroy'], 2, /there is no command destroy; duet --help lists them/],
      [
        'an unknown option',
        ['serve', '--port', '80'],
        2,
        /--port.*\(duet serve --help tells more\)/,
      ],
      ['a misspelt command', ['sevre'], 2, /there is no command sevre; did you mean serve\?$/m],
      [
        'a misspelt option',
        ['serve', '--migrat'],
        2,
        /there is no --migrat; did you mean --migrate\?/,
      ],
      ['a port as an option', ['serve', '--port', '80'], 2, /no --port; set DUET_PORT in the env/],
      ['a port in short', ['serve', '-p', '80'], 2, /no -p; set DUET_PORT in the environment/],
      [
        'a store as an option',
        ['migrate', '--db=x'],
        2,
        /no --db; set DUET_DATABASE_URL in the env/,
      ],
      ['an option that is in the name of a setting', ['user', 'add', '--age', '3'], 2, /--age \(/],
      [
        'an option given twice',
        ['token', '--user', '1', '--user', '2'],
        2,
        /^duet: --user is given twice; give it once \(/,
      ],
      ['a flag given twice', ['export', 'users', '--raw', '--raw'], 2, /--raw is given twice/],
      ['an option like nothing', ['serve', '--frob'], 2, /there is no --frob \(duet serve --help/],
      ['posts of nobody', ['seed', '--posts', '5'], 2, /--posts needs --users above 0/],
    ],
    settings,
  )
  assert.equal(existsSync(file), false)
})

const wrong: readonly (readonly [string, CliCommand, readonly string[], RegExp])[] = [
  ['an argument too many', migrate, ['now'], /^unexpected argument: now$/],
  ['an option without its value', migrate, ['--draft'], /--draft/],
  ['an option of another command', migrate, ['--users', '1'], /--users/],
  [
    'a size that is no number',
    seed,
    ['--users', 'many'],
    /^--users must be a whole number, not many$/,
  ],
  ['a size below zero', seed, ['--users=-1'], /^--users must be a whole number, not -1$/],
  [
    'comments on nothing',
    seed,
    ['--users', '5', '--comments', '5'],
    /^--comments needs --posts above 0/,
  ],
  ['a token for nobody', token, [], /^--user must be the id of a user/],
  ['a token for what is no id', token, ['--user', '0'], /^--user must be the id of a user/],
  [
    'an unknown role',
    token,
    ['--user', '1', '--role', 'root'],
    /^--role must be user or admin, not root$/,
  ],
  [
    'a life too long',
    token,
    ['--user', '1', '--ttl', '25h'],
    /^--ttl must be .* at most 24h, not 25h$/,
  ],
  ['a life of nothing', token, ['--user', '1', '--ttl', '0s'], /^--ttl must be/],
  ['a life without unit', token, ['--user', '1', '--ttl', '60'], /^--ttl must be/],
  ['an import of nothing', importRows, [], /^KIND must be one of .*, not nothing$/],
  [
    'an import of an unknown kind',
    importRows,
    ['cats', 'x.csv'],
    /^KIND must be one of .*, not cats$/,
  ],
  ['an import without file', importRows, ['users'], /^FILE is missing/],
  [
    'an import of another type',
    importRows,
    ['users', 'users.xml'],
    /users\.xml must end in \.ndjson or \.csv$/,
  ],
]
for (const [what, wronged, args, message] of wrong)
  test(`${what} is wrong usage (${args.join(' ')})`, async () => {
    await assert.rejects(
      wronged.run(args, content),
      (error: unknown) => error instanceof UsageError && message.test(error.message),
    )
  })

test('what fails is one line that names the thing and the remedy, and exit 1', async () => {
  const { file, settings } = await freshStore()
  const empty = join(folder, 'empty.csv')
  writeFileSync(empty, '')
  const folderLike = join(folder, 'folder.csv')
  mkdirSync(folderLike)
  await oneLine(
    [
      [
        'a file that is not there',
        ['import', 'users', join(folder, 'none.csv')],
        1,
        /there is no such file: .*none\.csv/,
      ],
      ['an empty file', ['import', 'users', empty], 1, /empty\.csv is empty/],
      ['a folder', ['import', 'users', folderLike], 1, /folder\.csv is not a file$/m],
    ],
    settings,
  )
  assert.equal(existsSync(file), false)
})

test('a file of a command that cannot be reached or written is not taken for the store', async () => {
  const settings = await migrated()
  const inTheWay = join(folder, 'a-file')
  writeFileSync(inTheWay, '')
  const message =
    /a-file.* leads through a file or is one, where a folder is needed; name another path, that of the store/
  await oneLine(
    [
      ['import', ['import', 'users', join(inTheWay, 'users.csv')], 1, message],
      ['export', ['export', 'users', join(inTheWay, 'users.csv')], 1, message],
      ['backup', ['backup', join(inTheWay, 'duet.db')], 1, message],
    ],
    settings,
  )
  const full = { code: 'EROFS', path: '/mnt/users.csv' }
  assert.match(
    explain(Object.assign(new Error('EROFS: read-only file system'), full)),
    /^\/mnt\/users\.csv is on a disk that cannot be written; name another path, that of the store in DUET_DATABASE_URL;/,
  )
})

test('a CSV file with other marks than commas is refused with the remedy', async () => {
  const [semicolons, tabs] = [join(folder, 'semicolons.csv'), join(folder, 'tabs.csv')]
  writeFileSync(semicolons, 'name;email\nAda;ada@example.org\n')
  writeFileSync(tabs, 'name\temail\nAda\tada@example.org\n')
  await oneLine(
    [
      [
        'a CSV file with semicolons',
        ['import', 'users', semicolons],
        1,
        /have ; between them; save the file with commas/,
      ],
      [
        'a CSV file with tabs',
        ['import', 'users', tabs],
        1,
        /have tabs between them; save the file with commas/,
      ],
    ],
    (await freshStore()).settings,
  )
})

test('a content that is wrong is one line without a stack; a bug in one shows where it is', () => {
  const checkout = join(folder, 'checkout')
  const root = fileURLToPath(new URL('../..', import.meta.url))
  cpSync(join(root, 'bin'), join(checkout, 'bin'), { recursive: true })
  mkdirSync(join(checkout, 'content'))
  for (const name of ['scripts', 'node_modules'])
    symlinkSync(join(root, name), join(checkout, name))
  const run = (main: string) => {
    writeFileSync(join(checkout, 'content/main.ts'), main)
    const args = [join(checkout, 'bin/duet'), 'serve']
    return spawnSync(process.execPath, args, { env: plain, encoding: 'utf8' })
  }
  const wrong = run(`throw new Error('the model is wrong: a leads to b, which is not an entity')`)
  assert.equal(wrong.status, 1)
  assert.equal(wrong.stderr, 'duet: the model is wrong: a leads to b, which is not an entity\n')
  const bug = run(`throw new TypeError('a bug')`)
  assert.equal(bug.status, 1)
  assert.match(bug.stderr, /TypeError: a bug\n +at .*main\.ts:1/)
})

test('wrong settings are reported all at once, a line each, before anything is touched', async () => {
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
    { ...(await migrated()), DUET_PORT: String(port) },
    duet, // it has opened the store by then, which ends with its process
  )
  taken.close()
})

test('an address that this machine does not have is named', async () => {
  await oneLine(
    [['a foreign address', ['serve'], 1, /no address 192\.0\.2\.1; set DUET_HOST/]],
    { ...(await migrated()), DUET_PORT: '0', DUET_HOST: '192.0.2.1' },
    duet,
  )
})

test('a host name without an address is named, whatever the resolver says', () => {
  for (const code of ['ENOTFOUND', 'EAI_AGAIN'])
    assert.match(
      explain(Object.assign(new Error(`getaddrinfo ${code}`), { code, hostname: 'nowhere' })),
      /^no address of nowhere is known; set DUET_HOST/,
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

test('production does not start without a key for tokens, nor with a weak one, and never shows it', async () => {
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

test('a token of the command is accepted by the server, with its role and no longer than its life', async () => {
  const { settings } = await freshStore()
  const service = await serve(settings)
  const [user, admin, short] = (
    await Promise.all([
      command(['token', '--user', '2'], settings),
      command(['token', '--user', '1', '--role', 'admin', '--ttl', '15m'], settings),
      command(['token', '--user', '2', '--ttl', '90s'], settings),
    ])
  ).map(({ stdout }) => stdout.trim())
  const claims = (bearer = '') =>
    JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString())
  assert.equal(claims(short).exp - claims(short).iat, 90)
  assert.equal(claims(admin).role, 'admin')
  assert.equal(claims(user).sub, '2')
  const ask = async (method: string, bearer?: string) => {
    const { status } = await fetch(`${service.url}/api/users/3`, {
      method,
      ...(bearer && { headers: { Authorization: `Bearer ${bearer}` } }),
    })
    return status
  }
  assert.equal(await ask('GET'), 401)
  assert.equal(await ask('GET', user), 200)
  assert.equal(await ask('DELETE', user), 403)
  assert.equal(await ask('DELETE', admin), 204)
  assert.equal(await ask('GET', `${admin}x`), 401)
  await service.end()
})

test('development makes a secret once, for the owner alone, and token and server share it', async () => {
  const { file, settings } = fresh()
  const { DUET_AUTH_SECRET: _, ...development } = settings
  const first = await command(['token', '--user', '1'], development)
  assert.equal(first.code, 0)
  const path = join(dirname(file), 'secret')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.match(first.stderr, /the secret .*secret is new: the token fits only a service/)
  assert.equal((await command(['token', '--user', '1'], development)).stderr, '')
  const kept = readFileSync(path, 'utf8')
  const service = await serve(development)
  assert.equal(readFileSync(path, 'utf8'), kept)
  const { status } = await fetch(`${service.url}/api/users`, {
    headers: { Authorization: `Bearer ${first.stdout.trim()}` },
  })
  assert.equal(status, 200)
  await service.end()
})

test('a token of another secret is refused with the reason, and the log says once where the key is from', async () => {
  const { settings } = await freshStore()
  const service = await serve({ ...settings, DUET_LOG: 'warn' })
  const { stdout } = await command(['token', '--user', '1'], {
    ...settings,
    DUET_AUTH_SECRET: [...secret].reverse().join(''),
  })
  for (const user of [1, 2]) {
    const response = await fetch(`${service.url}/api/users/${user}`, {
      headers: { Authorization: `Bearer ${stdout.trim()}` },
    })
    assert.equal(response.status, 401)
    const { error } = (await response.json()) as { error: { message: string } }
    assert.match(error.message, /^The signature does not fit: the token was made with another key/)
  }
  await service.end()
  const lines = service.stdout().trim().split('\n')
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /"level":40,.*not signed with the key of DUET_AUTH_SECRET;/)
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
    assert.ok(JSON.stringify(data).includes('Ada Okafor'))
  }
  await service.end()
})

test('production prints where it listens and no token', async () => {
  const service = await serve({
    ...(await migrated()),
    DUET_ENV: 'production',
    DUET_HOST: '127.0.0.1',
  })
  assert.match(service.stderr(), /^Duet \S+ listens on http:\/\/127\.0\.0\.1:\d+\n$/)
  await service.end()
})
