/** Files that no row names are collected in time, and none that a row names; sizes and cleaned pictures of a whole service. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import sharp from 'sharp'
import { randomFrom, rotated } from '#base/random.ts'
import { storeOf } from '#files/by-hand.ts'
import { folderStore } from '#files/folder.ts'
import { ownFolder } from '../support/folders.ts'
import { gallery, galleryRows, pdf, png } from '../support/gallery.ts'
import { isPlanned, rounds, usualSeed } from '../support/rounds.ts'
import { startS3 } from '../support/s3.ts'
import { createWorld, forAllTests, onPostgres, sqliteSuite, type World } from '../world.ts'
import { collectIn } from './file-load.ts'

const day = 86_400_000
const paper = { 'Content-Type': 'application/pdf' }

suite('garbage of files', () => {
  const world = forAllTests(() => createWorld({ content: gallery, rows: galleryRows }))

  /** Makes all that is remembered of files older. */
  const pass = async (time: number) => {
    await world.change('update files set collect_at = collect_at - ?1', time)
    await world.change('update uploads set created_at = created_at - ?1', time)
  }
  const store = () => storeOf(world.core)
  const collect = (more: Parameters<typeof collectIn>[1] = {}) => collectIn(world, more)
  const put = async (text: string, id = 1) => {
    const raw = pdf(text)
    const { status, text: told } = await world.ask(`PUT /api/applications/${id}/cv`, {
      as: 2,
      raw,
      headers: paper,
    })
    assert.ok(status === 200 || status === 201, told)
    return hash('sha256', raw)
  }
  const upload = async (text: string) => {
    const raw = pdf(text)
    const { status, json } = await world.ask('POST /api/files', { as: 2, raw, headers: paper })
    assert.equal(status, 201)
    return { id: String(json.id), digest: hash('sha256', raw) }
  }

  test('an upload that no row takes on goes after 24 hours, one that a row has stays', async () => {
    const [lost, taken] = [await upload('lost'), await upload('taken')]
    const body = { cv: taken.id }
    assert.equal((await world.ask('PATCH /api/applications/1', { as: 2, body })).status, 200)
    await pass(day - 60_000)
    assert.equal(await collect(), 0)
    assert.notEqual(await store().size(lost.digest), undefined)
    await pass(3_720_000)
    assert.equal(await collect(), 1)
    assert.equal(await store().size(lost.digest), undefined)
    assert.notEqual(await store().size(taken.digest), undefined)
    const late = await world.ask('PATCH /api/applications/1', { as: 2, body: { cv: lost.id } })
    assert.equal(late.status, 422)
  })

  test('a file that was replaced stays 30 days, and for good if a row takes it on again meanwhile', async () => {
    const [first, again] = [await put('first'), await put('again')]
    const between = await put('between')
    await collect()
    await pass(30 * day - 60_000)
    assert.equal(await collect(), 0)
    assert.equal(await put('again'), again)
    await pass(120_000)
    assert.equal(await collect(), 2)
    await pass(40 * day)
    assert.equal(await collect(), 1)
    const sizes = await Promise.all([first, between, again].map(store().size))
    assert.deepEqual(
      sizes.map(size => size !== undefined),
      [false, false, true],
    )
  })

  test('a deleted row leaves its file for 30 days', async () => {
    const made = await world.ask('POST /api/applications', { as: 2, body: { letter: 'Dear' } })
    const digest = await put('of a deleted row', made.json.id)
    const gone = await world.ask(`DELETE /api/applications/${made.json.id}`, { as: 2 })
    assert.equal(gone.status, 204)
    await collect()
    assert.notEqual(await store().size(digest), undefined)
    await pass(30 * day + 1000)
    await collect()
    assert.equal(await store().size(digest), undefined)
  })

  test('bytes without a row, as a killed transfer leaves them, go after 24 hours', async () => {
    const stored = await store().put(Readable.from([Buffer.from('nobody knows')]))
    await collect({ looksThrough: true })
    assert.notEqual(await store().size(stored.digest), undefined)
    await collect({ looksThrough: true, ahead: day + 3_660_000 })
    assert.equal(await store().size(stored.digest), undefined)
    assert.deepEqual(
      await world.rows('select digest from files where digest = ?1', stored.digest),
      [],
    )
  })

  for (const [when, isShared] of Object.entries({
    'an hour later': true,
    'at once where no other process may be about it': false,
  }))
    test(`a removal that a killed process left is finished ${when}`, async () => {
      const { digest } = await upload(`half removed, and finished ${when}`)
      await world.change('delete from uploads')
      const begun = 'update files set collect_at = ?1 where digest = ?2'
      for (const ago of isShared ? [0, 3_600_001] : [0]) {
        assert.notEqual(await store().size(digest), undefined)
        await world.change(begun, ago - Date.now(), digest)
        await collect({ isShared })
      }
      assert.equal(await store().size(digest), undefined)
    })

  test('who sends bytes that are being removed waits until they are gone, and has them then', async () => {
    const digest = await put('comes back')
    await world.change('update files set collect_at = ?1 where digest = ?2', -Date.now(), digest)
    const sent = put('comes back')
    await store().remove(digest)
    await world.change('delete from files where digest = ?1', digest)
    assert.equal(await sent, digest)
    assert.notEqual(await store().size(digest), undefined)
  })

  test('an upload whose bytes are gone is told to be sent again', async () => {
    const { id, digest } = await upload('gone meanwhile')
    await world.change('delete from files where digest = ?1', digest)
    const { status, json } = await world.ask('PATCH /api/applications/1', {
      as: 2,
      body: { cv: id },
    })
    assert.deepEqual(
      [status, json.errors],
      [
        422,
        [
          {
            field: 'cv',
            message:
              'is no upload of yours that waits: each is used once, within 24 hours; send the file to POST /api/files again',
          },
        ],
      ],
    )
  })
})

const times = rounds(48, 10_000)
/** So many rows, of which two each get the same bytes at once. */
const atOnce = 24
for (const place of ['a folder', 'S3'] as const)
  test(`bytes sent and collected at once ${times} times, in ${place}, are there whenever a row names them`, async t => {
    const root = ownFolder('same-bytes')
    const s3 = place === 'S3' ? await startS3(root) : undefined
    const worlds: World[] = []
    t.after(async () => {
      for (const world of worlds) await world.close()
      await s3?.close()
    })
    const application = Array.from({ length: atOnce }, () => ({ letter: 'Dear', memberId: 2 }))
    // Two services share a database of PostgreSQL, and what keeps their files; one of SQLite is one service's.
    const begin = async () => {
      const world = await createWorld({
        ...{ content: gallery, rows: { ...galleryRows, application }, file: join(root, 'duet.db') },
        fileStore: s3?.store() ?? folderStore(join(root, 'files')),
      })
      worlds.push(world)
      return world
    }
    const one = await begin()
    const other = onPostgres ? await begin() : one
    const send = async (row: number) => {
      const { ask } = row % 3 === 0 ? other : one
      const raw = pdf(`again and again ${row % (atOnce / 2)}`)
      const sent = await ask(`PUT /api/applications/${row}/cv`, { as: 2, raw, headers: paper })
      assert.ok(sent.status === 200 || sent.status === 201, sent.text)
      return hash('sha256', raw)
    }
    const random = randomFrom(usualSeed(times))
    const rows = application.map((_, at) => at + 1)
    await Promise.all(rows.map(send))
    let removed = 0
    for (let left = times; left > 0; left -= atOnce) {
      // Due in this very moment.
      await one.change('update applications set cv = null')
      await one.change('update files set collect_at = 1')
      const sent = rotated(rows, random).slice(0, left)
      const collected = Promise.all([one, other].map(world => collectIn(world)))
      const digests = await Promise.all(sent.map(send))
      for (const count of await collected) removed += count
      for (const digest of new Set(digests))
        assert.notEqual(await storeOf(one.core).size(digest), undefined, `${left} were left`)
    }
    if (isPlanned) assert.ok(removed > 0)
    t.diagnostic(`${removed} were removed meanwhile`)
  })

sqliteSuite('pictures of rows', () => {
  const world = forAllTests(() => createWorld({ content: gallery, rows: galleryRows }))

  const banner = (raw: Uint8Array<ArrayBuffer>, headers = { 'Content-Type': 'image/jpeg' }) =>
    world.ask('PUT /api/albums/1/banner', { as: 2, raw, headers })
  const photo = async () =>
    new Uint8Array(
      await sharp({ create: { width: 80, height: 40, channels: 3, background: '#a22' } })
        .withExif({ IFD0: { Make: 'Camera' } })
        .withMetadata({ orientation: 6 })
        .jpeg()
        .toBuffer(),
    )
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await world.app.request(path, { headers })
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
  }

  test('a picture is kept without what a camera wrote, turned, and given in declared widths', async () => {
    const { json, status, text } = await banner(await photo())
    assert.equal(status, 201, text)
    assert.deepEqual([json.width, json.height], [40, 80])
    const whole = await get(json.url)
    const { exif, width, height } = await sharp(whole.bytes).metadata()
    assert.deepEqual([exif, width, height, whole.bytes.length], [undefined, 40, 80, json.bytes])
    const small = await get(`${json.url}&w=16`, { Accept: 'image/webp,*/*' })
    assert.equal(small.answer.headers.get('content-type'), 'image/webp')
    assert.match(String(small.answer.headers.get('vary')), /\bAccept\b/)
    assert.match(String(small.answer.headers.get('cache-control')), /immutable/)
    const made = await sharp(small.bytes).metadata()
    assert.deepEqual([made.width, made.height, made.format], [16, 32, 'webp'])
    const tag = String(small.answer.headers.get('etag'))
    assert.notEqual(tag, whole.answer.headers.get('etag'))
    const known = await get(`${json.url}&w=16`, { Accept: 'image/webp', 'If-None-Match': tag })
    assert.equal(known.answer.status, 304)
    const plain = await get(`/api/albums/1/banner?w=32`)
    assert.equal(plain.answer.headers.get('content-type'), 'image/jpeg')
    // Who may give it to fields that keep it alone may have an action give it to this one.
    const sent = await world.ask('POST /api/files', {
      as: 3,
      role: 'recruiter',
      raw: await photo(),
    })
    assert.deepEqual([sent.json.width, sent.json.height], [40, 80], sent.text)
  })

  test('another width than those declared is refused with them', async () => {
    for (const [path, message] of [
      ['/api/albums/1/banner?w=9', 'w must be 16 or 32'],
      ['/api/albums/1/banner?w=', 'w must be 16 or 32'],
      ['/api/albums/1/cover?w=16', 'w is no parameter here, as the file has no sizes'],
    ] as const) {
      if (path.includes('cover')) {
        const headers = { 'Content-Type': 'image/png' }
        await world.ask('PUT /api/albums/1/cover', { as: 2, raw: png(1, 1), headers })
      } else await banner(await photo())
      const { answer, bytes } = await get(path)
      assert.deepEqual([answer.status, JSON.parse(String(bytes)).detail], [422, message])
    }
  })
})
