/** What every store of files does, tried on a folder and on S3. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { folderStore } from '#files/folder.ts'
import { type FileStore, type Limit, placeOf } from '#files/store.ts'

const limit = (more: Partial<Limit> = {}): Limit => ({
  bytes: 10_000_000,
  signal: new AbortController().signal,
  ...more,
})

/** Chunks as a stream gives them. */
async function* chunks(...parts: readonly (Uint8Array | string)[]) {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part
}

const textOf = async (stream: AsyncIterable<Uint8Array>) => {
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts).toString()
}

const sha256 = (text: string) => hash('sha256', text)

/** Puts a text; gives its digest. */
const put = async (store: FileStore, text: string, more: Partial<Limit> = {}) =>
  (await store.put(chunks(text), limit(more))).digest

const listed = async (store: FileStore) => {
  const found: string[] = []
  for await (const { digest } of store.list()) found.push(digest)
  return found.sort()
}

export const storeSuite = (
  named: string,
  open: () => Promise<FileStore>,
  leftIn: () => readonly string[],
) =>
  describe(named, () => {
    let store: FileStore
    before(async () => {
      store = await open()
    })

    test('gives back what was put, by its digest', async () => {
      const stored = await store.put(chunks('one ', 'two ', 'three'), limit())
      assert.deepEqual(stored, { digest: sha256('one two three'), bytes: 13 })
      assert.equal(await textOf(await store.open(stored.digest)), 'one two three')
      assert.equal(await store.has(stored.digest), true)
    })

    test('keeps an empty file', async () => {
      const digest = await put(store, '')
      assert.equal(await textOf(await store.open(digest)), '')
    })

    test('keeps a file of several batches, whole and by its ranges', async () => {
      const parts = Array.from({ length: 30 }, (_, at) => Buffer.alloc(40_000 + at, 97 + (at % 26)))
      const whole = Buffer.concat(parts)
      const { digest, bytes } = await store.put(chunks(...parts), limit())
      assert.deepEqual([digest, bytes], [hash('sha256', whole), whole.length])
      for (const [first, last] of [
        [0, 0],
        [1, 99_999],
        [whole.length - 1, whole.length - 1],
      ] as const)
        assert.equal(
          await textOf(await store.open(digest, { first, last })),
          whole.subarray(first, last + 1).toString(),
        )
    })

    test('takes the same bytes twice and lists them once', async () => {
      const digest = await put(store, 'twice')
      assert.equal(await put(store, 'twice'), digest)
      assert.equal((await listed(store)).filter(one => one === digest).length, 1)
    })

    test('lists each file with its length and the time it came', async () => {
      const begun = Date.now()
      const digest = await put(store, 'listed')
      for await (const found of store.list())
        if (found.digest === digest) {
          assert.equal(found.bytes, 6)
          assert.ok(Math.abs(found.changed.getTime() - begun) < 3_600_000)
          return
        }
      assert.fail('it is not in the list')
    })

    test('refuses what is above the limit, and leaves nothing of it', async () => {
      await assert.rejects(store.put(chunks('12345', '67890'), limit({ bytes: 9 })), {
        code: 'PAYLOAD_TOO_LARGE',
        message: 'The file is above 9 bytes',
      })
      assert.equal(await store.has(sha256('1234567890')), false)
      assert.deepEqual(leftIn(), [])
      assert.equal(await put(store, '123456789', { bytes: 9 }), sha256('123456789'))
    })

    test('ends a transfer that is aborted while it waits for bytes, and leaves nothing of it', async () => {
      const abort = new AbortController()
      async function* silent() {
        yield Buffer.from('half')
        queueMicrotask(() => abort.abort(new Error('nobody sends')))
        await new Promise(() => {})
      }
      await assert.rejects(store.put(silent(), limit({ signal: abort.signal })), /nobody sends/)
      assert.deepEqual(leftIn(), [])
    })

    test('a stream that fails leaves nothing, and its error is told', async () => {
      async function* torn() {
        yield Buffer.from('half')
        throw new Error('the sender is gone')
      }
      await assert.rejects(store.put(torn(), limit()), /the sender is gone/)
      assert.equal(await store.has(sha256('half')), false)
      assert.deepEqual(leftIn(), [])
    })

    test('tells of bytes before they get their place, and gives them up where that fails', async () => {
      const told: unknown[] = []
      const arriving = async (digest: string, bytes: number) => {
        told.push([digest, bytes, await store.has(digest)])
      }
      const digest = await put(store, 'announced', { arriving })
      assert.deepEqual(told, [[digest, 9, false]])
      const refuse = async () => {
        throw new Error('not now')
      }
      await assert.rejects(put(store, 'given up', { arriving: refuse }), /not now/)
      assert.equal(await store.has(sha256('given up')), false)
      assert.deepEqual(leftIn(), [])
    })

    test('what is removed is not there, with what is beside it; removing it again does nothing', async () => {
      const digest = await put(store, 'removed')
      const beside = `${digest}.320.webp`
      await put(store, 'small', { as: beside })
      assert.equal(await textOf(await store.open(beside)), 'small')
      assert.ok(!(await listed(store)).includes(beside))
      await store.remove(digest)
      assert.deepEqual([await store.has(digest), await store.has(beside)], [false, false])
      await store.remove(digest)
      await assert.rejects(store.open(digest), /has no bytes of .*duet files verify/)
    })

    test('bytes that come again after they were removed are there', async () => {
      const digest = await put(store, 'again')
      await store.remove(digest)
      await put(store, 'again')
      assert.equal(await textOf(await store.open(digest)), 'again')
    })

    test('a name that is no digest leads nowhere', async () => {
      for (const name of ['../../etc/passwd', `${'0'.repeat(63)}G`, '', `${'0'.repeat(64)}/../x`])
        await assert.rejects(async () => store.open(name), /is no digest of a file/)
    })

    test('fifty transfers at once do not mix', async () => {
      const texts = Array.from({ length: 50 }, (_, at) => `file ${at} `.repeat(20_000))
      const digests = await Promise.all(texts.map(text => put(store, text)))
      assert.deepEqual(digests, texts.map(sha256))
      assert.equal(await textOf(await store.open(digests[49] ?? '')), texts[49])
    })
  })

const root = mkdtempSync(join(tmpdir(), 'duet-files-'))
after(() => rmSync(root, { recursive: true, force: true }))
const partsOf = (folder: string) => readdirSync(join(folder, 'parts'))

storeSuite(
  'a folder',
  async () => folderStore(join(root, 'files')),
  () => partsOf(join(root, 'files')),
)

test('a folder removes what killed transfers left, and leaves those that go on', async () => {
  const folder = join(root, 'swept')
  const store = folderStore(folder)
  await put(store, 'kept')
  for (const [part, seconds] of [
    ['old.part', 1000],
    ['new.part', 100_000],
  ] as const) {
    writeFileSync(join(folder, 'parts', part), 'half')
    utimesSync(join(folder, 'parts', part), seconds, seconds)
  }
  await store.sweep(new Date(50_000_000))
  assert.deepEqual(partsOf(folder), ['new.part'])
  assert.deepEqual(await listed(store), [sha256('kept')])
})

test('a folder whose empty folders somebody removed takes files again', async () => {
  const folder = join(root, 'emptied')
  const store = folderStore(folder)
  const digest = await put(store, 'x')
  rmSync(join(folder, digest.slice(0, 2)), { recursive: true })
  await put(store, 'x')
  assert.equal(await store.has(digest), true)
})

test('files lie in two levels of folders', () => {
  assert.equal(placeOf(sha256('x')), `2d/71/${sha256('x')}`)
})
