/** What commands say of themselves and of wrong usage. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { UsageError } from '#cli/arguments.ts'
import { openapi, schema } from '#cli/documents.ts'
import * as importRows from '#cli/import.ts'
import * as migrate from '#cli/migrate.ts'
import * as seed from '#cli/seed.ts'
import * as serveCommand from '#cli/serve.ts'
import * as token from '#cli/token.ts'
import content from '#content/duet.config.ts'
import { versions } from '#content/versions.ts'
import type { CliCommand } from '#content.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { oneLine } from '#test/cli/one-line.ts'
import { command } from '#test/commands.ts'
import { duet, folderOf, serve } from '#test/duet.ts'

const { fresh, freshStore } = folderOf('usage')
const commands = [
  'serve',
  'migrate',
  'seed',
  'schema',
  'openapi',
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
  const { code, stdout, stderr } = await command(['serve', '--help'], { DUET_PORT: 'nonsense' })
  assert.deepEqual([code, stdout, stderr], [0, `${serveCommand.help}\n`, ''])
  assert.equal((await command(['help', 'serve'])).stdout, stdout)
})

test('the overview names every command, as help with exit 0 and for nothing at all with exit 2', async () => {
  const [asked, bare] = await Promise.all([command(['--help']), command([])])
  assert.equal(asked.code, 0)
  assert.equal(bare.code, 2)
  for (const name of commands) assert.match(asked.stdout, new RegExp(`^ {2}${name} {2,}\\S`, 'm'))
  assert.equal(bare.stdout, asked.stdout)
})

test('schema prints what a server shows of itself, and neither opens nor makes a store', async () => {
  const { file, settings } = fresh()
  const { code, stdout, stderr } = await command(['schema'], {
    ...settings,
    DUET_ENV: 'production',
  })
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(existsSync(file), false)
  const service = await serve(settings)
  const served = await fetch(`${service.url}/graphql/schema.graphql`)
  assert.equal(stdout, await served.text())
  await service.end()
})

test('openapi prints the document of a version that a server shows, in lines that can be read', async () => {
  const { file, settings } = fresh()
  for (const version of versions.all) {
    const { code, stdout } = await command(['openapi', '--version', `${version}`], settings)
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout), await openApiOf(content, version))
    assert.ok(stdout.split('\n').length > 1000)
    assert.ok(Buffer.byteLength(stdout) <= 270_000)
  }
  const unknown = await command(['openapi', '--version', '99'], settings)
  assert.deepEqual([unknown.code, existsSync(file)], [2, false])
  assert.match(unknown.stderr, /--version must be 1.* or \d, not 99/)
})

test('the version is that of the package', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  )
  const { code, stdout } = await duet(['--version'])
  assert.deepEqual([code, stdout], [0, `duet ${version}\n`])
})

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
        'help of a misspelt command',
        ['help', 'sevre'],
        2,
        /no command sevre; did you mean serve\?$/m,
      ],
      ['an option first', ['--port', '80', 'serve'], 2, /there is no --port before the command/],
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
      ['an option that is in the name of a setting', ['user', 'add', '--age', '3'], 2, /--age; /],
      [
        'an option given twice',
        ['token', '--user', '1', '--user', '2'],
        2,
        /^duet: --user is given twice; give it once \(/,
      ],
      ['a flag given twice', ['export', 'users', '--raw', '--raw'], 2, /--raw is given twice/],
      ['an option like nothing', ['serve', '--frob'], 2, /there is no --frob; there is --/],
      ['posts of nobody', ['seed', '--posts', '5'], 2, /--posts needs --users above 0/],
    ],
    settings,
    command,
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
