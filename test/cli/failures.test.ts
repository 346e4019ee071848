/** What a command says that fails: one line with the remedy. */
import assert from 'node:assert/strict'
import { type StdioOptions, spawnSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { explain } from '#cli/terminal.ts'
import { folderOf, plain } from '#test/market.ts'
import { migrated, oneLine } from './one-line.ts'

const { folder, freshStore } = folderOf('failures')

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
  const settings = await migrated((await freshStore()).settings)
  const inTheWay = join(folder, 'a-file')
  writeFileSync(inTheWay, '')
  const message =
    /a-file.* leads through a file or is one, but a folder is needed; name another path, that of the store/
  await oneLine(
    [
      ['import', ['import', 'users', join(inTheWay, 'users.csv')], 1, message],
      ['export', ['export', 'users', join(inTheWay, 'users.csv')], 1, message],
      ['backup', ['backup', join(inTheWay, 'duet.db')], 1, message],
    ],
    settings,
  )
  for (const [error, sentence] of [
    [
      { code: 'EROFS', path: '/a' },
      /^\/a is on a disk that cannot be written; name another path, /,
    ],
    [{ code: 'ENOSPC', path: '/a', dest: '/b' }, /^the disk of \/b is full: make room there$/],
    [{ code: 'ENOENT', syscall: 'mkdtemp', path: '/t/x' }, /in \/t \(ENOENT\): set TMPDIR to one/],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 13 }, /^the disk of the store, or .* is full: make room/],
  ] as const)
    assert.match(explain(Object.assign(new Error('failed'), error)), sentence)
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

test('a content that is wrong is one line without a stack, and so is a bug in one, with its place', () => {
  const checkout = join(folder, 'checkout')
  const root = fileURLToPath(new URL('../..', import.meta.url))
  cpSync(join(root, 'bin'), join(checkout, 'bin'), { recursive: true })
  mkdirSync(join(checkout, 'content'))
  for (const name of ['scripts', 'src', 'node_modules'])
    symlinkSync(join(root, name), join(checkout, name))
  const run = (main: string, ...more: readonly string[]) => {
    writeFileSync(join(checkout, 'content/duet.config.ts'), main)
    const args = [join(checkout, 'bin/duet'), 'serve', ...more]
    const cwd = join(checkout, 'content')
    return spawnSync(process.execPath, args, { cwd, env: plain, encoding: 'utf8' })
  }
  const wrong = run(`throw new Error('the model is wrong: a leads to b, which is not an entity')`)
  assert.equal(wrong.status, 1)
  assert.equal(wrong.stderr, 'duet: the model is wrong: a leads to b, which is not an entity\n')
  const bug = run(`throw new TypeError('a bug')`)
  assert.equal(bug.status, 1)
  assert.match(bug.stderr, /^duet: \S+duet\.config\.ts:1 a bug\n$/)
  if (existsSync('/dev/full')) {
    const full = openSync('/dev/full', 'w')
    const stdio: StdioOptions = ['ignore', full, 'pipe']
    const args = [join(checkout, 'bin/duet'), '--version']
    const lost = spawnSync(process.execPath, args, { stdio, env: plain, encoding: 'utf8' })
    closeSync(full)
    assert.equal(lost.status, 1)
    assert.match(lost.stderr, /^duet: standard output cannot be written: ENOSPC: .*\n$/)
    // A limit on files in place of a full disk: no part of a secret stays.
    const made = join(checkout, 'made')
    const command = `ulimit -f 0; ${process.execPath} ${join(root, 'bin/duet')} token --user 1`
    const env = { ...plain, DUET_DATABASE_URL: `sqlite:${made}/duet.db` }
    assert.equal(spawnSync('sh', ['-c', command], { cwd: root, env }).status, 1)
    assert.deepEqual(readdirSync(made), [])
  }
  assert.equal(
    run('', '--config', '.').stderr,
    'duet: . is a folder: let --config name the duet.config.ts in it\n',
  )
  for (const [args, message] of [
    [['--config', 'duet.config.ts', '--config=x'], '--config is given twice; give it once'],
    [['--config'], '--config needs a file, such as --config ../shop/duet.config.ts'],
  ] as const) {
    const { status, stderr } = run('', ...args)
    assert.deepEqual([status, stderr], [2, `duet: ${message}\n`])
  }
})
