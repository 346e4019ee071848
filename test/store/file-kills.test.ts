/** A process that is killed while it takes files, and a disk that is full: what was told to be there is there, whole, and nothing else stays. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { randomFrom } from '#base/random.ts'
import { copyFiles, copyIn } from '#cli/files.ts'
import { rounds, usualSeed } from '../support/rounds.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'duet-file-kills-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** Puts files of random lengths below 300 kB, and says of each how far it is, and when it is there. */
const writer = `
import { randomBytes, randomInt } from 'node:crypto'
import { folderStore } from '#files/folder.ts'
const [folder, count] = process.argv.slice(1)
const store = folderStore(folder)
for (let at = 0; at < Number(count); at++) {
  const bytes = randomBytes(randomInt(1, 300_000))
  async function* chunks() {
    for (let from = 0; from < bytes.length; from += 5000) {
      console.log('sent')
      yield bytes.subarray(from, from + 5000)
    }
  }
  const told = await store.put(chunks()).then(({ digest }) => digest, error => error.code)
  console.log(told)
}`

const start = (folder: string, count: number, limit = '') => {
  const run = `${limit}exec "$@"`
  const loaded = ['--import=./src/base/resolve-imports.ts', '--input-type=module', '-e', writer]
  const args = ['-c', run, 'sh', process.execPath, ...loaded, folder, String(count)]
  return spawn('/bin/sh', args, { cwd: checkout, stdio: ['ignore', 'pipe', 'inherit'] })
}

const partsOf = (folder: string) => readdirSync(join(folder, 'parts'))

/** Fails unless the store has these files, and each that it has is whole. */
const checkWhole = async (folder: string, digests: readonly string[]) => {
  const store = copyIn(folder)
  for (const digest of digests) assert.notEqual(await store.size(digest), undefined, digest)
  // A copy compares each with its digest.
  await copyFiles(store, copyIn(`${folder}-copy`))
}

const times = rounds(8, 1000)

test('a process killed at any byte leaves whole files, all that it told of, and a part that is swept', {
  skip: process.platform === 'win32' && 'NOT TESTED: Windows has no /bin/sh',
}, async () => {
  const random = randomFrom(usualSeed(times))
  const folder = join(root, 'killed')
  const told: string[] = []
  for (let round = 0; round < times; round++) {
    const child = start(folder, 1000)
    const ended = once(child, 'exit')
    let left = 1 + Math.floor(random() * 150)
    for await (const line of createInterface(child.stdout)) {
      if (line !== 'sent') told.push(line)
      if (--left === 0) child.kill('SIGKILL')
    }
    await ended
    await checkWhole(folder, told)
    await copyIn(folder).sweep(new Date(Date.now() + 60_000))
    assert.deepEqual(partsOf(folder), [])
  }
  assert.ok(told.length > 0)
})

test('a full disk is told as such, whichever byte it takes, and leaves nothing of the file', {
  skip: process.platform === 'win32' && 'NOT TESTED: Windows has no ulimit',
}, async () => {
  const folder = join(root, 'full')
  // In blocks of 512 bytes; without the trap the signal would end the process.
  const child = start(folder, times, "trap '' XFSZ; ulimit -f 100; ")
  const ended = once(child, 'exit')
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) if (line !== 'sent') lines.push(line)
  await ended
  assert.equal(lines.length, times)
  assert.ok(lines.includes('STORAGE_FULL'))
  await checkWhole(
    folder,
    lines.filter(line => line !== 'STORAGE_FULL'),
  )
  assert.deepEqual(partsOf(folder), [])
})
