/** Runs the shell lines of the tour and of the queries against a service, as somebody would who pastes them one block after another. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildSchema, parse, validate } from 'graphql'
import { folderOf, plain, type Settings, serve } from '#test/duet.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (name: string) => readFileSync(join(root, 'docs', name), 'utf8')
const { folder, fresh } = folderOf('readme')

type Block = { readonly script: string; readonly after: string }

/** The shell blocks from one heading to another, or to the end, each with the text that follows it. */
const blocksBetween = (text: string, from: string, to?: string): readonly Block[] => {
  const start = text.indexOf(`\n## ${from}\n`)
  const end = to === undefined ? text.length : text.indexOf(`\n## ${to}\n`)
  assert.ok(start >= 0 && end > start, `${from} stands before ${to}`)
  const [, ...parts] = text.slice(start, end).split('```sh\n')
  return parts.map(part => {
    const [script = '', after = ''] = part.split('```\n')
    return { script, after }
  })
}

const separator = '\n== the next block ==\n'

/** Runs the blocks in one shell, which stops where a line fails; gives what each printed. */
const paste = (scripts: readonly string[], url: string, settings: Settings): readonly string[] => {
  const script = scripts
    .map(text => text.replaceAll('http://127.0.0.1:3000', url).replaceAll('bin/duet', '"$DUET"'))
    .join(`printf '${separator.replaceAll('\n', '\\n')}'\n`)
  const { status, stdout, stderr } = spawnSync(
    'bash',
    ['--norc', '-euo', 'pipefail', '-c', script],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...plain, ...settings, DUET: join(root, 'bin/duet') },
    },
  )
  assert.deepEqual([status, stderr], [0, ''], script)
  return stdout.split(separator)
}

const pattern = (text: string) =>
  new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*'))

test('every block of the queries and of the two tours works as it stands, and prints what stands below it', async t => {
  const { settings } = fresh()
  const service = await serve(settings)
  t.after(() => service.end())
  const blocks = [
    ...blocksBetween(read('queries.md'), 'Conditions'),
    ...blocksBetween(read('tour.md'), 'Five minutes with both APIs', 'The command line'),
  ]
  // The tour has the reader run these two a second time.
  const scripts = blocks.map(({ script }) =>
    /"If-Match|pay-1/.test(script) ? `${script}${script}` : script,
  )
  const printed = paste(scripts, service.url, settings)
  assert.equal(printed.length, blocks.length)
  for (const [index, { script, after }] of blocks.entries()) {
    const output = printed[index] ?? ''
    const said = /^\s*The answer has (.*)/.exec(after)?.[1] ?? ''
    const shown = /^\s*\n {4}(\S.*)/.exec(after)?.[1]
    for (const [, text = ''] of said.matchAll(/`([^`]+)`/g)) assert.ok(output.includes(text), text)
    if (shown !== undefined) assert.match(output, pattern(shown))
    if (!/"email": "x"|email: ..x|If-Match|catgory/.test(script))
      assert.doesNotMatch(output, /"errors?":/)
    if (output !== '')
      assert.match(output, /\n$/, `the prompt stands on a line of its own: ${script}`)
  }
  const outputOf = (part: string) => printed[scripts.findIndex(text => text.includes(part))] ?? ''
  assert.equal(outputOf('If-None-Match'), '304\n')
  assert.deepEqual(outputOf('"If-Match').match(/^\d+$/gm), ['200', '412'])
  assert.match(outputOf('pay-1'), /Idempotency-Replayed: true/i)
  const isFile = (name: string, start: string) =>
    readFileSync(join(folder, name), 'utf8').slice(0, 100).includes(start)
  assert.ok(isFile('receipt.html', '<html') && isFile('report.svg', '<svg'))
})

test('every operation of the queries that is about this content fits its schema', () => {
  const schema = buildSchema(readFileSync(join(root, 'contract/schema.graphql'), 'utf8'))
  const operations = [...read('queries.md').matchAll(/```graphql\n(.*?)```/gs)]
    .map(([, text = '']) => text)
    .filter(text => !text.includes('recipes'))
  assert.equal(operations.length, 2)
  for (const text of operations) assert.deepEqual(validate(schema, parse(text)), [], text)
})

test('the block for production makes a store with an admin, up to the line that serves it', () => {
  const [{ script = '' } = {}] = blocksBetween(
    read('operations.md'),
    'The first day',
    'Requirements',
  )
  const [preparation = '', rest] = script.split('bin/duet serve\n')
  assert.equal(rest, '')
  const [output] = paste([`${preparation}bin/duet migrate`], '', {})
  assert.match(output ?? '', /^user 1\nbin\/duet token .*\nthe store is up to date\n$/)
})
