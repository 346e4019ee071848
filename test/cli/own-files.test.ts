/** What the commands make and read beside the store: files for this user alone, and settings and contents that no service could take. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { loadConfig, settingsBeside } from '#config.ts'
import content from '#content/duet.config.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { prepare } from '#serve/prepare.ts'
import { historyFor } from '#test/history.ts'
import { commandsOf, command as usual } from '../commands.ts'
import { duet, folderOf } from '../duet.ts'
import { projectIn } from '../support/project.ts'

const { folder, freshStore } = folderOf('own-files')

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('a store, its log and its folders are made for this user alone', async () => {
  const file = join(folder, 'new', 'data', 'duet.db')
  const store = sqliteStore({ file, migrations: historyFor('sqlite') })
  await store.migrate()
  const session = await store.session('filling')
  await session.transaction(async () => {})
  for (const ending of ['', '-wal', '-shm']) assert.equal(modeOf(file + ending), '600', ending)
  await session.close()
  for (const path of [dirname(file), join(folder, 'new')]) assert.equal(modeOf(path), '700', path)
  const held = join(folder, 'held', 'duet.db')
  const release = await sqliteStore({ file: held, migrations: [] }).hold(0, () => {})
  assert.deepEqual([modeOf(held), modeOf(dirname(held))], ['600', '700'])
  release()
})

test('what is exported is for this user alone, unless a file that others may read is there', async () => {
  const { settings } = await freshStore()
  assert.equal((await usual(['migrate'], settings)).code, 0)
  const file = join(folder, 'users.ndjson')
  const exported = async () => {
    assert.equal((await usual(['export', 'users', file], settings)).code, 0)
    return modeOf(file)
  }
  assert.equal(await exported(), '600')
  chmodSync(file, 0o644)
  assert.equal(await exported(), '644')
})

test('a store and a secret that others may read are named at the start, with the remedy', async () => {
  const file = join(folder, 'wide', 'duet.db')
  const config = loadConfig({ DUET_DATABASE_URL: `sqlite:${file}` }, content.settings)
  const start = async () => {
    const told: string[] = []
    const release = await prepare({ config, content }, true, line => void told.push(line))
    release()
    return told.filter(line => line.includes('chmod'))
  }
  assert.deepEqual(await start(), [])
  const secret = join(dirname(file), 'secret')
  assert.deepEqual([modeOf(file), modeOf(secret)], ['600', '600'])
  chmodSync(file, 0o640)
  chmodSync(secret, 0o644)
  const note = (path: string, mode: number) =>
    `${path} is open to others than its owner (mode ${mode}): chmod 600 ${path}`
  assert.deepEqual(await start(), [note(file, 640), note(secret, 644)])
})

test('a .env that is a folder, no UTF-8 or a link to nothing, or names what it does not set, is told in a sentence; one that begins with a mark is read', async () => {
  const { project, config } = await projectIn(folder, 'empty')
  const file = join(project, '.env')
  mkdirSync(file)
  for (const command of ['migrate', 'dev']) {
    const { code, stderr } = await duet([command, ...config])
    assert.equal(stderr, `duet: ${file} is a folder: make it a file of settings, or take it away\n`)
    assert.equal(code, 1)
  }
  rmdirSync(file)
  writeFileSync(file, '\ufeffDUET_A=1\r\nDUET_B=2\r\n')
  assert.deepEqual({ ...settingsBeside(project) }, { DUET_A: '1', DUET_B: '2' })
  writeFileSync(file, '\ufeffDUET_A=1', 'utf16le')
  assert.throws(() => settingsBeside(project), {
    message: `${file} is not UTF-8: make it a file of settings, or take it away`,
  })
  writeFileSync(file, 'DUET_A="1\nDUET_D"\n#DUET_B\nexport DUET_C: 1\n')
  assert.throws(() => settingsBeside(project), {
    message: `${file} names DUET_C and sets nothing: write DUET_C=VALUE, or take it out`,
  })
  symlinkSync('none', join(project, 'migrations', '.env'))
  assert.throws(() => settingsBeside(join(project, 'migrations')), { message: /ENOENT/ })
})

test('a content that no service could serve is refused by every command, before the store is touched', async () => {
  const { project } = await projectIn(folder, 'empty', 'twice')
  const route = `{ method: 'GET', path: '/hello', described: { operationId: 'hello', summary: 'Hello.', rule: anyone }, serve: () => () => new Response('') }`
  writeFileSync(
    join(project, 'twice.config.ts'),
    `import { defineContent, defineModel } from 'duet'
import { anyone } from 'duet/model'
import { note } from './entities/note.ts'
const route = ${route}
export const twice = defineContent({
  entities: defineModel({ note }),
  migrations: new URL('./migrations/', import.meta.url),
  served: async () => ({ routes: [route, route], pages: [] }),
  seed: async () => ({ sizes: {}, about: '', check: () => undefined, fill: async () => {} }),
} as never)
`,
  )
  const command = commandsOf('twice', pathToFileURL(join(project, 'twice.config.ts')).href)
  const { settings, file } = await freshStore({ bare: true })
  const rows = join(folder, 'notes.ndjson')
  writeFileSync(rows, '')
  const said = new Set<string>()
  for (const args of [
    ['serve'],
    ['migrate'],
    ['migrate', '--draft', 'x'],
    ['schema'],
    ['openapi'],
    ['seed'],
    ['import', 'notes', rows],
    ['export', 'notes'],
    ['backup', join(folder, 'backup.db')],
    ['token', '--subject', 'x'],
  ]) {
    const { code, stdout, stderr } = await command(args, settings)
    assert.equal(code, 1, args.join(' '))
    assert.equal(stdout, '')
    said.add(stderr)
  }
  assert.equal(said.size, 1, [...said].join(''))
  assert.match([...said][0] ?? '', /^duet: .*\/hello.*\n$/)
  assert.throws(() => statSync(file), { code: 'ENOENT' })
})

test('a store of another branch is told how to begin anew, in development alone', async () => {
  const file = join(folder, 'branches', 'data', 'duet.db')
  const later = { name: '9999-of-a-branch', text: 'create table branch (id integer primary key);' }
  await sqliteStore({ file, migrations: [...historyFor('sqlite'), later] }).migrate()
  const settings = { DUET_DATABASE_URL: `sqlite:${file}` }
  const secret = { DUET_AUTH_SECRET: 's'.repeat(43) }
  const told = async (more: Record<string, string>) =>
    (await usual(['migrate'], { ...settings, ...more })).stderr
  const hint = /; in development you may delete .*branches\/data, if you need nothing of it\n$/
  assert.match(await told({}), hint)
  assert.doesNotMatch(await told({ DUET_ENV: 'production', ...secret }), /in development/)
})
