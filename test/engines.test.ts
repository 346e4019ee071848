/** Checks which test files each command runs, that the contract tests run on both engines, which test files share a process, and which run again at night. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

type Engines = {
  readonly onSqliteOnly: Readonly<Record<string, string>>
  readonly longest: readonly string[]
  readonly wholeOnPostgres: Readonly<Record<string, string>>
  readonly runsOnPostgres: (file: string) => boolean
}
const { longest, onSqliteOnly, runsOnPostgres, wholeOnPostgres }: Engines = await import(
  new URL('../scripts/test-engines.mjs', import.meta.url).href
)

type Together = {
  readonly alone: Readonly<Record<string, string>>
  readonly processesOf: (files: readonly string[]) => readonly (readonly string[])[]
}
const { alone, processesOf }: Together = await import(
  new URL('../scripts/test-together.mjs', import.meta.url).href
)

type Files = Readonly<Record<'sqlite' | 'postgres', readonly string[]>>
const { suites }: { readonly suites: Readonly<Record<string, () => Files>> } = await import(
  new URL('../scripts/test-files.mjs', import.meta.url).href
)
const filesOf = (command: string): Files => suites[command]?.() ?? assert.fail(command)

const root = new URL('..', import.meta.url)

test('each test file of the project is run by test:all or by test:nightly, and what test runs by test:all too', () => {
  const exclude = ['node_modules', '**/node_modules', 'dist']
  const there = globSync('**/*.test.{ts,tsx,mjs,js}', { cwd: root, exclude })
  const [all, night] = [filesOf('test:all'), filesOf('test:nightly')]
  assert.deepEqual([...all.sqlite, ...night.sqlite].toSorted(), there.toSorted())
  const short = filesOf('test')
  for (const engine of ['sqlite', 'postgres'] as const) {
    assert.ok(short[engine].length > 0)
    assert.deepEqual(
      short[engine].filter(file => !all[engine].includes(file)),
      [],
    )
  }
})

test('a contract test runs on PostgreSQL too unless it says why not, a new one as well, and so does what compares the engines [B9]', () => {
  const contract = globSync('content/test/contract/**/*.test.ts', { cwd: root })
  const comparing = ['generic/check', 'store/differences', 'store/values']
  const wanted = [
    ...contract.filter(file => !Object.hasOwn(onSqliteOnly, file)),
    ...['content/test/contract/new.test.ts', ...Object.keys(wholeOnPostgres)],
    ...comparing.map(name => `test/${name}.test.ts`),
  ]
  assert.deepEqual(
    wanted.filter(file => !runsOnPostgres(file)),
    [],
  )
})

test('each exception, and each file that begins first, is a test file that is there', () => {
  const known = [onSqliteOnly, wholeOnPostgres, alone].flatMap(Object.keys)
  assert.deepEqual(
    [...known, ...longest].filter(
      // Those of a content go with it.
      file => !existsSync(new URL(file, root)) && existsSync(new URL('./', new URL(file, root))),
    ),
    [],
  )
})

const isInTest = (file: string) => /^(content\/)?test\//.test(file)

test('each test file runs in one process, and those of a folder share few', () => {
  const files = globSync('{src,content,test}/**/*.test.ts', { cwd: root })
  const processes = processesOf(files)
  assert.deepEqual(processes.flat().toSorted(), files.toSorted())
  assert.ok(processes.length < files.length / 3)
  for (const [first = '', ...others] of processes.filter(({ length }) => length > 1))
    for (const file of others) assert.equal(isInTest(file), isInTest(first))
})

test('each test file whose rounds are more at night is run at night', () => {
  const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8')
  const nightly = globSync('{,content/}test/nightly/planned-*.test.ts', { cwd: root }).map(textOf)
  const known = new Set(
    nightly.flatMap(text => [...text.matchAll(/'(\S+\.test\.ts)'/g)].map(([, file]) => file)),
  )
  const files = globSync('{,content/}test/**/*.test.ts', { cwd: root })
  assert.deepEqual(
    [...known].toSorted(),
    files
      .filter(file =>
        /^import \{.*\b(rounds|isPlanned)\b.*\} from '.*\/support\/rounds\.ts'$/m.test(
          textOf(file),
        ),
      )
      .toSorted(),
  )
})

type Tests = ReadonlyMap<string, readonly { readonly file: string }[]>
const { testsByThreat }: { readonly testsByThreat: () => Tests } = await import(
  new URL('../scripts/threats.mjs', import.meta.url).href
)

/** What a threat wants that `npm test` has not: all others have a test there. */
const beyondShort = {
  'a kill, or power that fails': ['A1', 'A3', 'A6', 'A17', 'C11', 'C12'],
  'a disk that is slow, fails or is lost': ['A4', 'A5', 'A7', 'A8', 'A16'],
  'several processes, and signals': ['A12', 'H8', 'H9', 'H10'],
  'a database that fails, or a wire to it that does': [
    'B1',
    'B3',
    'B4',
    'B5',
    'B6',
    'B8',
    'B14',
    'H11',
  ],
  'much time or memory, for thousands of rounds': ['A22', 'I2'],
  'another run of the tests, or an install': ['I3', 'I4', 'I5', 'I6'],
}

test('each threat has a test in npm test, unless it wants what is only in the others', () => {
  const short = filesOf('test')
  const without = [...testsByThreat()].filter(
    ([, tests]) => !tests.some(({ file }) => short.sqlite.includes(file)),
  )
  // Another content has not the tests that this one brings.
  if (!short.sqlite.includes('content/test/specification.test.ts')) return
  const known = Object.values(beyondShort).flat()
  assert.deepEqual(
    without.map(([number]) => number).filter(number => !known.includes(number)),
    [],
  )
})
