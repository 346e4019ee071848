/** What every store of files does, tried on a folder and on S3. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import fs, {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { folderStore } from '#files/folder.ts'
import { checkStore, type FileStore, type Limit, placeOf } from '#files/store.ts'
import { asApiError } from '#http/exchange.ts'
import type { Chunks } from '#http/reply.ts'
import type { Event } from '#observe.ts'
import { faults, type S3, startS3 } from '#test/support/s3.ts'
import { inTime, pause } from '#test/support/wait.ts'

/** Chunks as a stream gives them. */
async function* chunks(...parts: readonly (Uint8Array | string)[]) {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part
}

const textOf = async (stream: Chunks, isSpent = false) => {
  const parts: Uint8Array[] = []
  for await (const part of stream) {
    parts.push(isSpent ? Buffer.from(part) : part)
    if (isSpent) stream.spent?.(part)
  }
  return Buffer.concat(parts).toString()
}

const sha256 = (text: string) => hash('sha256', text)

/** Puts a text; gives its digest. */
const put = async (store: FileStore, text: string, more: Limit = {}) =>
  (await store.put(chunks(text), more)).digest

const listed = async (store: FileStore) =>
  (await Array.fromAsync(store.list(), ({ digest }) => digest)).sort()

const storeSuite = (
  named: string,
  open: () => Promise<FileStore>,
  leftIn: () => readonly string[] = () => [],
) =>
  describe(named, () => {
    let store: FileStore
    before(async () => {
      store = await open()
    })

    test('gives back what was put, by its digest', async () => {
      const stored = await store.put(chunks('one ', 'two ', 'three'))
      assert.deepEqual(stored, { digest: sha256('one two three'), bytes: 13 })
      assert.equal(await textOf(await store.open(stored.digest)), 'one two three')
      assert.equal(await store.size(stored.digest), 13)
    })

    test('keeps an empty file', async () => {
      const digest = await put(store, '')
      assert.equal(await textOf(await store.open(digest)), '')
    })

    test('keeps a file of several batches, whole and by its ranges', async () => {
      const parts = Array.from({ length: 30 }, (_, at) => Buffer.alloc(40_000 + at, 97 + (at % 26)))
      const whole = Buffer.concat(parts)
      const { digest, bytes } = await store.put(chunks(...parts))
      assert.deepEqual([digest, bytes], [hash('sha256', whole), whole.length])
      for (const [first, last] of [
        [0, 0],
        [1, 299_999],
        [whole.length - 1, whole.length - 1],
      ] as const)
        for (const isSpent of [false, true])
          assert.equal(
            await textOf(await store.open(digest, { first, last }), isSpent),
            whole.subarray(first, last + 1).toString(),
          )
    })

    test('lists each file with its length and the time it came', async () => {
      const begun = Date.now()
      const digest = await put(store, 'listed')
      const found = (await Array.fromAsync(store.list())).find(one => one.digest === digest)
      assert.equal(found?.bytes, 6)
      assert.ok(Math.abs(Number(found?.changed) - begun) < 3_600_000)
    })

    test('a check that throws ends a transfer, and leaves nothing of it', async () => {
      const check = (bytes: number) => {
        if (bytes > 9) throw new Error(`${bytes} are too many`)
      }
      await assert.rejects(store.put(chunks('12345', '67890'), { check }), /10 are too many/)
      assert.equal(await store.size(sha256('1234567890')), undefined)
      assert.deepEqual(leftIn(), [])
      assert.equal(await put(store, '123456789', { check }), sha256('123456789'))
    })

    test('tells of each chunk when it is not needed any more, in order', async () => {
      const parts = Array.from({ length: 40 }, (_, at) => Buffer.alloc(10_000, `${at} `))
      const [given, text] = [parts.values(), Buffer.concat(parts).toString()]
      const spent: Uint8Array[] = []
      const stream = Object.assign(chunks(...given), {
        spent: (chunk: Uint8Array) => {
          spent.push(Buffer.from(chunk))
          chunk.fill(0)
        },
      })
      const { digest } = await store.put(stream)
      assert.equal(digest, sha256(text))
      assert.equal(Buffer.concat(spent).toString(), text)
      assert.equal(await textOf(await store.open(digest)), text)
    })

    test('a stream that fails leaves nothing, and its error is told as it is', async () => {
      const gone = Object.assign(new Error('the sender is gone'), { code: 'EACCES' })
      async function* torn() {
        yield Buffer.from('half')
        throw gone
      }
      await assert.rejects(store.put(torn()), error => error === gone)
      assert.equal(await store.size(sha256('half')), undefined)
      assert.deepEqual(leftIn(), [])
    })

    test('tells of bytes before they get their place, and gives them up where that fails', async () => {
      const told: unknown[] = []
      const arriving = async (digest: string, bytes: number) => {
        told.push([digest, bytes, await store.size(digest)])
      }
      const digest = await put(store, 'announced', { arriving })
      assert.deepEqual(told, [[digest, 9, undefined]])
      const refuse = async () => {
        throw new Error('not now')
      }
      await assert.rejects(put(store, 'given up', { arriving: refuse }), /not now/)
      assert.equal(await store.size(sha256('given up')), undefined)
      assert.deepEqual(leftIn(), [])
    })

    test('what is removed is not there, with what is beside it; removing it again does nothing', async () => {
      const digest = await put(store, 'removed')
      const beside = `${digest}.320.webp`
      await put(store, 'small', { as: beside })
      assert.equal(await textOf(await store.open(beside)), 'small')
      assert.ok(!(await listed(store)).includes(beside))
      await store.remove(digest)
      for (const name of [digest, beside]) assert.equal(await store.size(name), undefined)
      await store.remove(digest)
      await assert.rejects(store.open(digest), /has no bytes of .*duet files verify/)
    })

    test('a name that is no digest leads nowhere', async () => {
      for (const name of ['../../etc/passwd', `${'0'.repeat(63)}G`, '', `${'0'.repeat(64)}/../x`])
        await assert.rejects(async () => store.open(name), /is no digest of a file/)
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

test('a transfer asks for no chunk before the last one is in the folder', async () => {
  const folder = join(root, 'held')
  async function* counting() {
    for (let sent = 0; sent < 1_000_000; sent += 5000) {
      const [part = ''] = partsOf(folder)
      assert.equal(statSync(join(folder, 'parts', part)).size, sent)
      yield Buffer.alloc(5000, sent)
    }
  }
  await folderStore(folder).put(counting())
})

test('a folder removes what killed transfers left, and leaves those that go on', async () => {
  const folder = join(root, 'swept')
  const store = folderStore(folder)
  await put(store, 'kept')
  for (const [part, seconds] of Object.entries({ 'old.part': 1000, 'new.part': 100_000 })) {
    writeFileSync(join(folder, 'parts', part), 'half')
    utimesSync(join(folder, 'parts', part), seconds, seconds)
  }
  await store.sweep(new Date(50_000_000))
  assert.deepEqual(partsOf(folder), ['new.part'])
  assert.deepEqual(await listed(store), [sha256('kept')])
})

test('a folder flushes what it keeps, nothing that is refused, and says where a disk is full', async t => {
  const store = folderStore(join(root, 'flushed'))
  await put(store, 'made its folders')
  const handle = await open(root)
  const flushes = [
    t.mock.method(fs, 'fsync').mock,
    t.mock.method(Object.getPrototypeOf(handle), 'sync').mock,
  ]
  await handle.close()
  const count = () => flushes.reduce((sum, mock) => sum + mock.callCount(), 0)
  const check = () => {
    throw new Error('too much')
  }
  await assert.rejects(put(store, 'made its folders', { check }), /too much/)
  assert.equal(count(), 0)
  await put(store, 'made its folders')
  // The file, and the folder with its name.
  assert.equal(count(), 2)
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' })
  flushes[1]?.mockImplementationOnce(() => Promise.reject(full))
  await assert.rejects(put(store, 'x'), ({ cause }) => /space '.+parts\W/.test(cause.message))
})

test('a folder whose empty folders somebody removed takes files again', async () => {
  const folder = join(root, 'emptied')
  const store = folderStore(folder)
  const digest = await put(store, 'x')
  rmSync(join(folder, digest.slice(0, 2)), { recursive: true })
  await put(store, 'x')
  assert.notEqual(await store.size(digest), undefined)
})

test('a folder that cannot be made is no fault of the service, and its reason goes to the log', async () => {
  const taken = join(root, 'taken')
  writeFileSync(taken, '')
  const nowhere = process.platform === 'linux' ? { '/proc/duet/files': 'ENOENT' } : {}
  for (const [folder, why] of Object.entries({ [taken]: 'ENOTDIR', ...nowhere })) {
    const error = await put(folderStore(folder), 'x').catch(error => error)
    const events: Event[] = []
    assert.deepEqual([error.code, error.status], ['UNAVAILABLE', 503])
    await assert.rejects(checkStore(folderStore(folder)), { code: 'UNAVAILABLE' })
    const told = asApiError(error, '', event => void events.push(event))
    assert.equal(told, error)
    const [event] = events
    const message = event?.kind === 'problem' ? event.message : ''
    assert.ok(message.startsWith(`a file cannot be stored: ${why}`), message)
  }
})

test('whether files can be stored is tried without a trace', async () => {
  const folder = join(root, 'tried')
  await checkStore(folderStore(folder))
  assert.deepEqual(readdirSync(folder, { recursive: true }), ['parts'])
})

describe('S3', () => {
  const folder = join(root, 's3')
  const spool = join(root, 'spool')
  let s3: S3
  before(async () => {
    s3 = await startS3(root)
  })
  after(() => s3.close())

  const spooled = () => (existsSync(spool) ? readdirSync(spool) : [])
  const keys = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
      /[0-9a-f]{64}/.test(name),
    )

  storeSuite('its bucket', async () => s3.store())

  for (const [how, [failing, why]] of Object.entries(faults))
    test(`a store that ${how} is told of, and leaves nothing of a file`, async () => {
      const store = s3.store({ patience: 300 })
      const before = keys()
      s3.fault = failing
      const failed = await put(store, `${how} `.repeat(60_000)).catch(error => error)
      const checked = await checkStore(store).catch(error => error)
      s3.fault = undefined
      assert.deepEqual([failed.code, failed.status], ['UNAVAILABLE', 503])
      assert.equal(checked.code, 'UNAVAILABLE')
      assert.match(failed.cause.message, why)
      assert.match(failed.cause.message, /^the bucket duet at http:/)
      assert.deepEqual(keys(), before)
      assert.deepEqual(spooled(), [])
    })

  test('where what waits for the bucket can have no place, TMPDIR is named', async () => {
    const store = s3.store({ spool: join(import.meta.filename, 'spool') })
    const failed = await put(store, 'x').catch(error => error)
    assert.match(failed.cause.message, /^a file cannot be stored: .*: set TMPDIR to a folder/)
  })

  test('a fault that passes is asked about again, and nobody notices', async () => {
    let left = 2
    s3.fault = (passOn, outgoing) => (left-- > 0 ? outgoing.writeHead(503).end() : passOn())
    const digest = await put(s3.store(), 'in the end')
    s3.fault = undefined
    assert.equal(await textOf(await s3.store().open(digest)), 'in the end')
  })

  test('an answer that tears, falls silent or begins elsewhere ends its reading with a fault, and is let go', async () => {
    const store = s3.store({ patience: 300 })
    const digest = await put(s3.store(), 'torn '.repeat(100_000))
    for (const [from, end, why] of [
      [1, (outgoing: ServerResponse) => outgoing.destroy(), /was torn: aborted/],
      [1, () => {}, /was torn: it is silent/],
      [5, () => {}, /was answered with bytes 5-9.* in place of bytes=1-9/],
    ] as const) {
      const { promise: letGo, resolve } = Promise.withResolvers<void>()
      s3.fault = (_, outgoing) => {
        outgoing.writeHead(206, { 'Content-Length': '9', 'Content-Range': `bytes ${from}-9/10` })
        outgoing.once('close', resolve).write('torn ', () => end(outgoing))
      }
      const read = store.open(digest, { first: 1, last: 9 }).then(textOf)
      await assert.rejects(read, ({ code, cause }) => code === 'UNAVAILABLE' && why.test(cause))
      await inTime('it is let go', letGo)
    }
    s3.fault = undefined
  })

  test('a store that falls silent while its reader is slow ends the reading too', async () => {
    const patience = 200
    const digest = await put(s3.store(), 'slow '.repeat(100_000))
    s3.fault = (_, outgoing) => {
      outgoing.writeHead(200, { 'Content-Length': '500000' }).write('slow '.repeat(1000))
    }
    const stream = await s3.store({ patience }).open(digest)
    await pause(3 * patience)
    const failed = textOf(stream).catch(error => error.cause.message)
    assert.match(await inTime('it ends', failed), /was torn: it is silent/)
    s3.fault = undefined
  })

  test('what was taken may need longer on a slow line than the store may be silent', async () => {
    const patience = 400
    s3.fault = async (_, outgoing, incoming) => {
      await incoming.toArray()
      setTimeout(() => outgoing.setHeader('ETag', '"x"').end(), 2 * patience)
    }
    await put(s3.store({ patience }), 'slow '.repeat(600_000))
    s3.fault = undefined
  })

  test('a bucket of several pages is listed whole', async () => {
    const [one, other] = ['one', 'other'].map(sha256)
    const page = (digest = '', next = '') =>
      `<ListBucketResult><Contents><Key>a prefix &amp; more/${placeOf(digest)}</Key></Contents>${next}</ListBucketResult>`
    const first = page(one, '<NextContinuationToken>a+b/=</NextContinuationToken>')
    s3.fault = (_, outgoing, { url = '' }) =>
      outgoing.end(url.includes('continuation-token=a%2Bb%2F%3D') ? page(other) : first)
    const found = await listed(s3.store())
    s3.fault = undefined
    assert.deepEqual(found, [one, other].sort())
  })

  test('a store knows nothing of another one under a longer prefix', async () => {
    const [short, long] = ['own/', 'own/other/'].map(prefix => s3.store({ prefix }))
    assert.ok(short && long)
    const [one, two] = [await put(short, 'one'), await put(long, 'two')]
    await put(long, 'small', { as: `${two}.16.webp` })
    assert.deepEqual(await listed(short), [one])
    assert.deepEqual(await listed(long), [two])
    await short.remove(two)
    assert.equal(await textOf(await long.open(two)), 'two')
    await long.remove(two)
    assert.equal(await long.size(`${two}.16.webp`), undefined)
  })

  test('files wait in no folder of somebody else, who could put others in their place', async () => {
    const foreign = join(root, 'foreign')
    mkdirSync(foreign)
    const link = join(root, 'link')
    symlinkSync(foreign, link)
    const isRoot = process.getuid?.() === 0
    if (isRoot) chownSync(foreign, 12_345, 12_345)
    for (const place of [link, isRoot ? foreign : '/'])
      await assert.rejects(put(s3.store({ spool: place }), 'mine'), {
        message: `${place} is no folder of this user: remove it, or set TMPDIR to another one`,
      })
    assert.deepEqual(readdirSync(foreign), [])
  })

  test('a bucket that is not there is named', async () => {
    const store = s3.store({ bucket: 'nowhere' })
    const failed = await put(store, 'x').catch(error => error)
    assert.match(failed.cause.message, /bucket nowhere .* no such bucket: make it, or name another/)
  })
})
