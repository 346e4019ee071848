/** A whole service over each store of files: what callers see is the same, and S3 that fails is told of and leaves no row without bytes. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, globSync, mkdtempSync, readlinkSync, rmSync, truncateSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, suite, test } from 'node:test'
import sharp from 'sharp'
import { loadConfig } from '#config.ts'
import { storeOf } from '#files/by-hand.ts'
import { folderStore } from '#files/folder.ts'
import { placeOf } from '#files/store.ts'
import { anyone } from '#model/policy.ts'
import { storedText } from '#model/stored-file.ts'
import type { RuledRoute } from '#rest/rest.ts'
import { type Listening, listen } from '#serve/listen.ts'
import { gallery, galleryRows, pdf } from '../support/gallery.ts'
import { faults, type S3, startS3 } from '../support/s3.ts'
import { until } from '../support/wait.ts'
import { type Asking, createWorld, type World } from '../world.ts'
import { collectIn } from './file-load.ts'

const paper = { 'Content-Type': 'application/pdf' }
const cv = '/api/applications/1/cv'

const byHand: RuledRoute = {
  ...{ method: 'GET', path: '/by-hand' },
  described: { rule: anyone, operationId: 'getByHand', summary: 'Get what a route sends' },
  serve: () => async () => {
    const stream = { body: Readable.from([Buffer.from('by hand')]), bytes: 7 }
    return { status: 200, headers: {}, body: null, stream }
  },
}

/** How many files of that name this process has open; none where the system does not say. */
const openFiles = (name: string): number =>
  globSync('/proc/self/fd/*').filter(at => existsSync(at) && readlinkSync(at).endsWith(name)).length

for (const place of ['a folder', 'S3'] as const)
  suite(`files of a service in ${place}`, () => {
    const root = mkdtempSync(join(tmpdir(), 'duet-file-stores-'))
    let s3: S3 | undefined
    let world: World
    let server: Listening
    before(async () => {
      if (place === 'S3') s3 = await startS3(root)
      // It is waited for in vain only where it is to fail.
      const [patient, hasty] = [s3?.store(), s3?.store({ patience: 300 })]
      const fileStore = patient
        ? new Proxy(patient, { get: (_, key) => Reflect.get((s3?.fault && hasty) ?? patient, key) })
        : folderStore(join(root, 'files'))
      const served = async () => {
        const { routes, pages } = await gallery.served()
        return { pages, routes: [...routes, byHand] }
      }
      const content = { ...gallery, served }
      world = await createWorld({ content, rows: galleryRows, fileStore })
      const { versions } = gallery
      const config = loadConfig({ DUET_PORT: '0' })
      server = await listen(world.app, config, { versions, state: { isDraining: false } })
    })
    after(async () => {
      await server.close(0)
      await world.close()
      await s3?.close()
      rmSync(root, { recursive: true, force: true })
    })

    const store = () => storeOf(world.core)
    const put = (raw: Uint8Array<ArrayBuffer>) =>
      world.ask(`PUT ${cv}`, { as: 2, raw, headers: paper })
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await world.app.request(path, { headers })
      return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
    }
    const mine = async () => ({ Authorization: `Bearer ${await world.token(2)}` })
    const long = (text: string) => pdf(text.padEnd(150_000, ' '))

    test('files that are put, short and long, and one in a form are read as they were sent', async () => {
      for (const raw of [pdf('short'), long('long')]) {
        assert.ok((await put(raw)).status <= 201)
        assert.deepEqual((await get(cv, await mine())).bytes, Buffer.from(raw))
      }
      const form = new FormData()
      form.append('file', new Blob([pdf('of a form')], { type: 'application/pdf' }), 'form.pdf')
      const headers = await mine()
      const sent = await fetch(`${server.url}/api/files`, { method: 'POST', body: form, headers })
      const { id } = (await sent.json()) as { id: string }
      const body = { letter: 'With a form', cv: id }
      const row = await world.ask('POST /api/applications', { as: 2, body })
      assert.deepEqual([row.status, row.json.cv.name], [201, 'form.pdf'])
      const read = await get(row.json.cv.url, headers)
      assert.deepEqual(read.bytes, Buffer.from(pdf('of a form')))
    })

    test('a range, a head, a tag and a signed address are answered', async () => {
      const raw = long('0123456789')
      await put(raw)
      const part = await get(cv, { ...(await mine()), Range: 'bytes=9-18' })
      assert.deepEqual(
        [part.answer.status, part.answer.headers.get('content-range'), String(part.bytes)],
        [206, `bytes 9-18/${raw.length}`, '0123456789'],
      )
      const last = await get(cv, { ...(await mine()), Range: 'bytes=-6' })
      assert.equal(String(last.bytes), '%%EOF\n')
      const tag = String(part.answer.headers.get('etag'))
      const known = await get(cv, { ...(await mine()), 'If-None-Match': tag })
      assert.equal(known.answer.status, 304)
      const head = await world.app.request(cv, { method: 'HEAD', headers: await mine() })
      assert.deepEqual([head.status, head.headers.get('content-length')], [200, `${raw.length}`])
      const row = await world.ask('GET /api/applications/1?signed=1', { as: 2 })
      assert.deepEqual((await get(row.json.cv.url)).bytes, Buffer.from(raw))
    })

    for (const [method, body] of Object.entries({ GET: 'by hand', HEAD: '' }))
      test(`a ${method} of a stream by hand is answered`, async t => {
        const told = t.mock.method(console, 'error', () => {})
        const answer = await fetch(`${server.url}/api/by-hand`, { method })
        assert.equal(answer.headers.get('content-length'), '7')
        assert.deepEqual([await answer.text(), told.mock.calls], [body, []])
      })

    const asked = async (line: string, more: Asking = {}) => {
      const { status, text } = await world.ask(line, { as: 2, ...more })
      assert.ok(status < 300, text)
    }
    const changes: Readonly<Record<string, (at: string, id: number) => Promise<unknown>>> = {
      replaced: at => asked(`PUT ${at}/cv`, { raw: pdf('after'), headers: paper }),
      'taken away': at => asked(`DELETE ${at}/cv`),
      hidden: (_, id) => world.change(`update applications set member_id = 3 where id = ${id}`),
      'gone with its row': at => asked(`DELETE ${at}`),
    }
    for (const [how, change] of Object.entries(changes))
      test(`a file that is ${how} while it is read is read to its end, and not again`, async () => {
        const raw = long(`before it is ${how}`)
        const made = await world.ask('POST /api/applications', { as: 2, body: { letter: 'Read' } })
        const at = `/api/applications/${made.json.id}`
        await world.ask(`PUT ${at}/cv`, { as: 2, raw, headers: paper })
        const headers = await mine()
        const reading = await fetch(`${server.url}${at}/cv`, { headers })
        const begun = await world.app.request(`${at}/cv`, { headers })
        const reader = reading.body?.getReader()
        const first = (await reader?.read())?.value ?? assert.fail()
        await change(at, made.json.id)
        await collectIn(world)
        const parts = [first]
        for (let next = await reader?.read(); next?.value; next = await reader?.read())
          parts.push(next.value)
        assert.equal(Buffer.compare(Buffer.concat(parts), raw), 0)
        // One whose first byte nobody has asked for yet.
        assert.equal(Buffer.compare(Buffer.from(await begun.arrayBuffer()), raw), 0)
        const again = await get(`${at}/cv`, headers)
        assert.equal(again.answer.status, how === 'replaced' ? 200 : 404)
        if (how === 'replaced') assert.deepEqual(again.bytes, Buffer.from(pdf('after')))
      })

    test('a picture is given in its sizes', async () => {
      const whole = sharp({ create: { width: 80, height: 40, channels: 3, background: '#a22' } })
      const raw = new Uint8Array(await whole.png().toBuffer())
      const headers = { 'Content-Type': 'image/png' }
      const sent = await world.ask('PUT /api/albums/1/banner', { as: 2, raw, headers })
      for (let time = 0; time < 2; time++) {
        const { bytes } = await get(`${sent.json.url}&w=16`)
        assert.equal((await sharp(bytes).metadata()).width, 16)
      }
    })

    test('bytes that no row names go in time, with their sizes, and those of a row stay', async () => {
      await put(pdf('kept'))
      const gone = await world.ask('POST /api/files', { as: 2, raw: pdf('gone'), headers: paper })
      assert.equal(gone.status, 201)
      const digests = ['kept', 'gone'].map(text => hash('sha256', pdf(text)))
      await collectIn(world, { ahead: 2 * 86_400_000 })
      const sizes = await Promise.all(digests.map(store().size))
      assert.deepEqual(sizes, [pdf('kept').length, undefined])
      assert.equal((await world.ask(`DELETE ${cv}`, { as: 2 })).status, 204)
      assert.equal((await world.ask(`GET ${cv}`, { as: 2 })).status, 404)
    })

    /** Each file that a row names is whole in the store, and no upload waits of what was refused. */
    const nothingIsLost = async () => {
      const named = await world.rows('select cv from applications where cv is not null')
      for (const [text] of named) {
        const { digest, bytes } = JSON.parse(String(text))
        assert.equal(await store().size(digest), bytes)
      }
      assert.deepEqual(await world.rows('select count(*) from uploads'), [[0]])
    }

    test('a body that is cut off leaves the file of the row', async () => {
      await put(pdf('before'))
      const headers = { ...(await mine()), ...paper, 'Content-Length': 150_000 }
      const asked = request(`${server.url}${cv}`, { method: 'PUT', headers })
      asked.on('error', () => {})
      const { bodies } = world.edge.memory
      asked.write(long('cut off').subarray(0, 100_000))
      await until('it is being received', () => bodies.taken() > 0)
      asked.destroy()
      await until('it is given up', () => bodies.taken() === 0)
      assert.equal(String((await get(cv, await mine())).bytes), String(Buffer.from(pdf('before'))))
      await nothingIsLost()
    })

    const bugs = () => world.events.flatMap(event => (event.kind === 'bug' ? [event.error] : []))

    if (place === 'a folder') {
      /** A connection that asks for a file of more than the buffers of two sockets and for the one there, and takes nothing yet. */
      const untaken = async (second: string) => {
        const stored = await store().put(Readable.from([Buffer.alloc(24_000_000, 'long ')]))
        const facts = { name: 'long.pdf', type: 'application/pdf', width: null, height: null }
        const kept = storedText({ ...stored, ...facts })
        await world.change('update applications set cv = ?1 where id = 1', kept)
        const { Authorization } = await mine()
        const socket = connect(Number(new URL(server.url).port), '127.0.0.1').pause()
        socket.on('error', () => {})
        for (const path of [cv, second])
          socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${Authorization}\r\n\r\n`)
        return { socket, ...stored }
      }

      test('two readers on one connection that take nothing are counted until it ends, and leave nothing open', async () => {
        const { socket, digest } = await untaken(cv)
        const { answers } = world.edge.memory
        await until('both are read', () => answers.taken() === 2 * 131_072)
        socket.destroy()
        await until('both are given up', () => answers.taken() === 0)
        await until('nothing is open', () => openFiles(digest) === 0)
      })

      test('a file that breaks off before its turn on its connection ends that after the one before it', async () => {
        const made = await world.ask('POST /api/applications', { as: 2, body: { letter: 'Next' } })
        const at = `/api/applications/${made.json.id}/cv`
        const raw = pdf('grows')
        await world.ask(`PUT ${at}`, { as: 2, raw, headers: paper })
        truncateSync(join(root, 'files', placeOf(hash('sha256', raw))), 1000)
        const before = bugs().length
        const { socket, bytes } = await untaken(at)
        await until('it broke off', () => bugs().length > before)
        socket.resume()
        await until('the connection ended', () => socket.closed)
        assert.ok(socket.bytesRead > bytes)
      })

      test('files leave half of the memory for answers to others, and each caller as much of theirs as it takes', async () => {
        await put(pdf('refused'))
        const { answers } = world.edge.memory
        const asked = [
          [`GET ${cv}`, { as: 2 }],
          [`GET ${cv}`, { as: 3, role: 'recruiter' }],
          ['GET /api/applications/1', { as: 2 }],
        ] as const
        for (const [account, taken, statuses] of [
          [answers, answers.budget / 2, [503, 503, 200]],
          [answers.of('viewer 2'), answers.budget / 4, [503, 200, 200]],
        ] as const) {
          account.force(taken)
          const told = await Promise.all(asked.map(([line, asking]) => world.ask(line, asking)))
          account.give(taken)
          assert.deepEqual(
            told.map(({ status }) => status),
            statuses,
          )
        }
      })

      for (const [how, bytes] of Object.entries({ longer: 151_000, shorter: 149_000 }))
        test(`a file that became ${how} than its row says ends its connection, and is told of`, async () => {
          const raw = long(`became ${how}`)
          await put(raw)
          truncateSync(join(root, 'files', placeOf(hash('sha256', raw))), bytes)
          const read = fetch(`${server.url}${cv}`, { headers: await mine() })
          await assert.rejects(read.then(answer => answer.arrayBuffer()))
          assert.match(String(bugs().at(-1)), /content-length/)
          await world.ask(`DELETE ${cv}`, { as: 2 })
        })
      return
    }

    for (const [how, [fault]] of Object.entries(faults))
      test(`S3 that ${how} is 503, and the row has the file before`, async () => {
        assert.ok(s3)
        const raw = long(how)
        const before = pdf(`before it ${how}`)
        assert.ok((await put(before)).status <= 201)
        s3.fault = (passOn, outgoing, incoming) =>
          incoming.method === 'PUT' ? fault(passOn, outgoing, incoming) : passOn()
        const refused = await put(raw)
        const upload = await world.ask('POST /api/files', { as: 2, raw, headers: paper })
        await nothingIsLost()
        const again = { as: 2, raw, headers: { ...paper, 'Idempotency-Key': hash('md5', how) } }
        const keyed = await world.ask('POST /api/files', again)
        s3.fault = undefined
        for (const { status, json, headers } of [refused, upload, keyed]) {
          assert.deepEqual([status, json.code], [503, 'UNAVAILABLE'])
          assert.match(json.detail, /The store of files does not answer as it should; try again/)
          assert.ok(Number(headers.get('retry-after')) > 0)
        }
        assert.deepEqual((await get(cv, await mine())).bytes, Buffer.from(before))
        // Under its key it is the upload that was noted, and gets its bytes now.
        const body = { cv: (await world.ask('POST /api/files', again)).json.id }
        assert.equal((await world.ask('PATCH /api/applications/1', { as: 2, body })).status, 200)
        assert.deepEqual((await get(cv, await mine())).bytes, Buffer.from(raw))
        // It is taken once S3 answers again.
        assert.ok((await put(raw)).status <= 201)
        assert.deepEqual((await get(cv, await mine())).bytes, Buffer.from(raw))
      })

    test('a read of S3 that does not answer is 503, and one that tears is no whole answer', async () => {
      assert.ok(s3)
      await put(pdf('unread'))
      s3.fault = faults['answers 503'][0]
      const refused = await world.ask(`GET ${cv}`, { as: 2 })
      assert.deepEqual([refused.status, refused.json.code], [503, 'UNAVAILABLE'])
      s3.fault = faults['tears its answer'][0]
      const torn = fetch(`${server.url}${cv}`, { headers: await mine() })
      await assert.rejects(torn.then(answer => answer.arrayBuffer()))
      assert.match(String((bugs().at(-1) as Error)?.cause), /was torn: aborted/)
      s3.fault = undefined
      assert.equal((await world.ask(`GET ${cv}`, { as: 2 })).status, 200)
    })
  })
