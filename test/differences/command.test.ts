/** What `duet contract` says about two files. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import * as contract from '#kit/contract/command.ts'
import { report } from '#kit/contract/contract.ts'
import { command } from '../commands.ts'
import { filesWith, name, page } from './files.ts'

const temporary = mkdtempSync(join(tmpdir(), 'duet-contract-'))
after(() => rmSync(temporary, { recursive: true, force: true }))

const write = (file: string, text: string): string => {
  writeFileSync(join(temporary, file), text)
  return join(temporary, file)
}
const one = write('one.json', filesWith()[name] ?? '')
const schema = write('a.graphql', 'type Query { a: Int }')

test('duet contract diff compares two files, and tells by its exit code whether something is breaking', async () => {
  const two = write('two.json', filesWith(page)[name] ?? '')
  const more = write('b.graphql', 'type Query { a: Int b: Int }')
  const [breaking, compatible, bare] = await Promise.all([
    command(['contract', 'diff', one, two]),
    command(['contract', 'diff', schema, more, '--json']),
    command(['contract']),
  ])
  assert.deepEqual([breaking.code, compatible.code, bare.code], [1, 0, 2])
  assert.match(breaking.stdout, /^breaking: 2\n {2}parameter-removed: the parameter page is gone /)
  assert.match(breaking.stdout, /\n2 breaking, 0 risky, 2 compatible\n$/)
  assert.deepEqual(JSON.parse(compatible.stdout), [
    {
      class: 'compatible',
      rule: 'field-added',
      path: 'Query.b',
      message: 'Field Query.b was added',
      hits: 'callers who read it',
      names: ['b'],
    },
  ])
  assert.equal(bare.stdout, `${contract.help}\n`)
})

test('a difference that breaks nothing is told with a few of its places', () => {
  const same = { rule: 'status-added', message: 'it may be 410', hits: 'callers', names: [] }
  const places = Array.from({ length: 9 }, (_, at) => `GET /${at} → 410`)
  const told = (name: 'breaking' | 'risky') =>
    report(places.map(path => ({ ...same, class: name, path })))
  assert.match(told('risky'), /GET \/3 → 410\n {4}and 5 more\n$/)
  assert.match(told('breaking'), /GET \/8 → 410\n$/)
})

test('duet contract diff passes what a file of corrections names, and refuses one that names nothing', async () => {
  const two = write('corrected.json', filesWith(page)[name] ?? '')
  const correction = {
    reason: 'It never had an effect.',
    file: 'corrected.json',
    rule: 'parameter-removed',
    message: 'the parameter page is gone',
    places: ['GET /things → query page', 'POST /things → query page'],
  }
  const corrections = write('corrections.json', JSON.stringify([correction]))
  const [passed, missed] = await Promise.all([
    command(['contract', 'diff', one, two, '--corrections', corrections]),
    command(['contract', 'diff', two, two, '--corrections', corrections]),
  ])
  assert.deepEqual([passed.code, missed.code], [0, 1])
  assert.match(passed.stdout, /\n0 breaking, 0 risky, 2 compatible\n$/)
  assert.match(missed.stderr, /parameter-removed at GET \/things → query page .* is no breaking/)
})

test('duet contract refuses a wrong command line and files that it cannot compare, with what they lack', async () => {
  const cases = [
    [['diff', one, schema], 2, /both \.json, \.graphql or \.d\.ts/],
    [['diff', one], 2, /NEW is missing/],
    [['diff', one, '-'], 2, /NEW must be a file that ends in \.json, \.graphql or \.d\.ts, not -/],
    [['compare'], 2, /there is no contract compare/],
    [['diff', one, one, one], 2, /unexpected argument/],
    [['diff', one, write('old.json', '{"openapi":"3.0.3"}')], 1, /old\.json is no OpenAPI 3\.1/],
    [['diff', one, write('broken.json', '{')], 1, /broken\.json is not JSON/],
    [['diff', schema, write('c.graphql', 'type {')], 1, /c\.graphql is no GraphQL schema/],
    [['diff', one, join(temporary, 'none.json')], 1, /there is no such file: .*none\.json/],
  ] as const
  for (const [args, code, message] of cases) {
    const told = await command(['contract', ...args])
    assert.deepEqual([told.code, told.stdout], [code, ''])
    assert.match(told.stderr, /^duet: [^\n]+\n$/)
    assert.match(told.stderr, message)
  }
})
