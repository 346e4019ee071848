/** Files of rows: put at their address or given as an upload, shown in both APIs, and read by the rules of row and field. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { gallery, galleryRows, pdf, png } from '../support/gallery.ts'
import { until } from '../support/wait.ts'
import { type Asking, createWorld, forAllTests, pluck } from '../world.ts'

const picture = { 'Content-Type': 'image/png' }
const paper = {
  'Content-Type': 'application/pdf',
  'Content-Disposition': 'attachment; filename="cv.pdf"',
}

suite('files', () => {
  /** By how much the clock is ahead. */
  let ahead = 0
  const now = () => Date.now() + ahead
  const world = forAllTests(() => createWorld({ content: gallery, rows: galleryRows, now }))

  const send = (raw: Uint8Array<ArrayBuffer>, asking: Asking = {}) =>
    world.ask('POST /api/files', { as: 2, raw, ...asking })
  const upload = async (raw: Uint8Array<ArrayBuffer>, asking: Asking = {}): Promise<string> => {
    const { status, json } = await send(raw, asking)
    assert.equal(status, 201)
    return json.id
  }
  const album = async (body: object = {}) => {
    const made = await world.ask('POST /api/albums', { as: 2, body: { title: 'New', ...body } })
    assert.equal(made.status, 201, made.text)
    return made.json
  }
  const bytesAt = async (path: string, as: Asking['as'] = 'anonymous') => {
    const headers: Record<string, string> =
      typeof as === 'number' ? { Authorization: `Bearer ${await world.token(as)}` } : {}
    const response = await world.app.request(path, { headers })
    return {
      status: response.status,
      headers: response.headers,
      bytes: new Uint8Array(await response.arrayBuffer()),
    }
  }

  test('a file that is put at its address is a member of its row in both APIs, and read there', async () => {
    const { id } = await album()
    const disposition = "attachment; filename*=UTF-8''K%C3%BCche.png"
    const raw = png(30, 20)
    const put = await world.ask(`PUT /api/albums/${id}/cover`, {
      as: 2,
      raw,
      headers: { ...picture, 'Content-Disposition': disposition },
    })
    const cover = put.json
    assert.equal(put.status, 201, put.text)
    assert.match(cover.url, new RegExp(`^/api/albums/${id}/cover\\?v=[0-9a-f]{12}$`))
    const { url, ...facts } = cover
    assert.deepEqual(facts, {
      name: 'Küche.png',
      type: 'image/png',
      bytes: raw.length,
      width: 30,
      height: 20,
    })
    const row = await world.ask(`GET /api/albums/${id}`)
    assert.deepEqual(row.json.cover, cover)
    const told = await world.gql(`{ album(id: ${id}) { cover { address: url width __typename } } }`)
    assert.deepEqual(told.json.data.album.cover, {
      address: url,
      width: 30,
      __typename: 'StoredFile',
    })
    const read = await bytesAt(url)
    assert.equal(read.status, 200)
    assert.deepEqual(read.bytes, raw)
    assert.equal(read.headers.get('content-type'), 'image/png')
    assert.match(String(read.headers.get('cache-control')), /immutable/)
  })

  test('an upload is taken on by a create and an update of either API, by parts and by many rows', async () => {
    const made = await album({ cover: await upload(png(1, 1)) })
    assert.equal(made.cover.width, 1)
    const changed = await world.ask(`PATCH /api/albums/${made.id}`, {
      as: 2,
      body: { cover: await upload(png(2, 2)) },
    })
    assert.equal(changed.json.cover.width, 2)
    const create =
      'mutation ($input: CreateAlbumInput!) { createAlbum(input: $input) { id cover { width } } }'
    const input = { title: 'By GraphQL', cover: await upload(png(3, 3)) }
    const one = await world.gql(create, { as: 2, variables: { input } })
    assert.deepEqual(one.json.data?.createAlbum.cover, { width: 3 }, one.text)
    const update = `mutation ($input: UpdateAlbumInput!) { updateAlbum(id: ${made.id}, input: $input) { cover { width } } }`
    const next = { cover: await upload(png(4, 4)) }
    const two = await world.gql(update, { as: 2, variables: { input: next } })
    assert.deepEqual(two.json.data?.updateAlbum.cover, { width: 4 }, two.text)
    const photos = {
      create: [{ image: await upload(png(5, 5)) }, { image: await upload(png(6, 6)) }],
    }
    const { id } = await album({ photos })
    const list = await world.ask(`GET /api/albums/${id}/photos`)
    const widths = list.json.data.map((photo: { image: { width: number } }) => photo.image.width)
    assert.deepEqual(widths.toSorted(), [5, 6])
    const many = await world.ask('POST /api/albums/bulk', {
      as: 2,
      body: {
        create: [
          { title: 'a', cover: await upload(png(7, 7)) },
          { title: 'b', cover: await upload(png(8, 8)) },
        ],
      },
    })
    assert.equal(many.json.count, 2, many.text)
  })

  test('an upload is of its caller alone, and used once', async () => {
    const id = await upload(png(1, 1))
    const create = (as: number, cover: string) =>
      world.ask('POST /api/albums', { as, body: { title: 'x', cover } })
    const refused = async (as: number, cover: string) => {
      const { status, json } = await create(as, cover)
      assert.equal(status, 422)
      assert.equal(json.errors[0].field, 'cover')
    }
    await refused(3, id)
    assert.equal((await create(2, id)).status, 201)
    await refused(2, id)
    await refused(2, 'up_aaaaaaaaaaaaaaaaaaaaaa')
    await refused(2, 'cover.png')
  })

  test('a write that is refused leaves the upload to its caller', async () => {
    const id = await upload(png(1, 1))
    const stolen = await world.ask('POST /api/albums', {
      as: 3,
      body: { title: 'not mine', cover: id },
    })
    assert.equal(stolen.status, 422)
    assert.equal((await album({ cover: id })).cover.width, 1)
    const other = await upload(png(1, 2), { as: 3 })
    const forbidden = await world.ask('PATCH /api/albums/1', { as: 3, body: { cover: other } })
    assert.equal(forbidden.status, 403)
    const taken = await world.ask('POST /api/albums', {
      as: 3,
      body: { title: 'mine', cover: other },
    })
    assert.equal(taken.status, 201)
  })

  test('a file is refused by its size, its type and its content', async () => {
    const at = `PUT /api/albums/1/cover`
    const large = await world.ask(at, { as: 2, raw: png(1, 1, 2000), headers: picture })
    assert.equal(large.status, 413)
    const text = new TextEncoder().encode('<script>alert(1)</script>')
    assert.equal((await world.ask(at, { as: 2, raw: text, headers: picture })).status, 415)
    const page = { 'Content-Type': 'text/html' }
    assert.equal((await world.ask(at, { as: 2, raw: text, headers: page })).status, 415)
    assert.equal((await world.ask(at, { as: 2, raw: pdf('x'), headers: paper })).status, 415)
    // What is of two types at once is of none.
    for (const [line, type, both, what] of [
      [at, 'image/gif', 'GIF89a\x01\0\x01\0\x80\0\0<script>alert(1)</script>', 'a page'],
      ['PUT /api/applications/1/cv', 'application/pdf', '%PDF-1.7\nPK\x03\x04', 'a ZIP archive'],
    ] as const) {
      const raw = new Uint8Array(Buffer.from(both, 'latin1'))
      const sent = { as: 2, raw, headers: { 'Content-Type': type } }
      for (const asked of [line, 'POST /api/files']) {
        const { status, json } = await world.ask(asked, sent)
        assert.deepEqual([status, json.detail.includes(`${type} and ${what} at once`)], [415, true])
      }
    }
    // What one field takes, another may not.
    const cv = await upload(pdf('x'), { headers: paper })
    const { status, json } = await world.ask('PATCH /api/albums/1', { as: 2, body: { cover: cv } })
    assert.equal(status, 422)
    assert.match(json.detail, /image\/png/)
    const big = await upload(png(1, 1, 3000))
    const over = await world.ask('PATCH /api/albums/1', { as: 2, body: { cover: big } })
    assert.match(over.json.detail, /at most 1 kB/)
  })

  test('who may not change the row may not put its file, and If-Match guards it', async () => {
    const { id } = await album()
    const at = `PUT /api/albums/${id}/cover`
    const put = (asking: Asking) => world.ask(at, { raw: png(1, 1), ...asking })
    assert.equal((await put({ headers: picture })).status, 401)
    assert.equal((await put({ as: 3, headers: picture })).status, 403)
    const before = await world.ask(`GET /api/albums/${id}`)
    const match = { ...picture, 'If-Match': String(before.headers.get('etag')) }
    assert.equal((await put({ as: 2, headers: match })).status, 201)
    assert.equal((await put({ as: 2, headers: match })).status, 412)
    assert.equal(
      (await world.ask(`PUT /api/albums/99/cover`, { as: 2, raw: png(1, 1), headers: picture }))
        .status,
      404,
    )
    assert.equal((await world.ask(`DELETE /api/albums/${id}/cover`, { as: 3 })).status, 403)
    assert.equal((await world.ask(`DELETE /api/albums/${id}/cover`, { as: 2 })).status, 204)
    assert.equal((await world.ask(`GET /api/albums/${id}`)).json.cover, null)
    assert.equal((await world.ask(`GET /api/albums/${id}/cover`)).status, 404)
  })

  test('If-Match and If-None-Match may name the file by its own ETag, which who may not read it does not learn', async () => {
    const { id } = await album()
    const at = `/api/albums/${id}/cover`
    const put = (width: number, headers: Record<string, string> = {}) =>
      world.ask(`PUT ${at}`, { as: 2, raw: png(width, 1), headers: { ...picture, ...headers } })
    const remove = (headers: Record<string, string>) =>
      world.ask(`DELETE ${at}`, { as: 2, headers })
    const tag = async () => String((await world.app.request(at)).headers.get('etag'))
    assert.equal((await put(1, { 'If-Match': '*' })).status, 412)
    // Both have to hold (RFC 9110, section 13.2.2).
    const both = { 'If-Match': '"of no revision"', 'If-None-Match': '*' }
    assert.equal((await put(1, both)).status, 412)
    assert.equal((await put(1, { 'If-None-Match': '*' })).status, 201)
    assert.equal((await put(2, { 'If-None-Match': '*' })).status, 412)
    const first = await tag()
    assert.equal((await put(2, { 'If-None-Match': first })).status, 412)
    assert.equal((await put(2, { 'If-Match': first })).status, 200)
    assert.equal((await put(3, { 'If-Match': first })).status, 412)
    const second = await tag()
    const get = (headers: Record<string, string>) => world.app.request(at, { headers })
    assert.equal((await get({ 'If-Match': first })).status, 412)
    assert.equal((await get({ 'If-Match': second })).status, 200)
    assert.equal((await remove({ 'If-Match': `W/${second}` })).status, 412)
    assert.equal((await remove({ 'If-Match': `${first}, ${second}` })).status, 204)
    const none = await remove({ 'If-Match': '*' })
    assert.equal(none.status, 412)
    assert.match(none.text, /If-Match needs a file, and there is no cover/)
    // Another member of the row may change while the bytes come.
    const headers = {
      ...{ ...picture, 'If-None-Match': '*' },
      ...{ Authorization: `Bearer ${await world.token(2)}` },
    }
    const parts = [png(4, 1), new Uint8Array(100)]
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: async controller => {
          const next = parts.shift()
          if (next === undefined) return controller.close()
          controller.enqueue(next)
          if (parts.length > 0) return
          const renamed = { as: 2, body: { title: 'Meanwhile' } }
          assert.equal((await world.ask(`PATCH /api/albums/${id}`, renamed)).status, 200)
        },
      },
      { highWaterMark: 0 },
    )
    const slow = await world.app.request(at, {
      method: 'PUT',
      body,
      headers,
      duplex: 'half',
    } as const)
    assert.equal(slow.status, 201, await slow.text())
    // Of a file that they give and may not read.
    const raw = pdf('not read by who gives it')
    const testimonial = (as: number, headers: Record<string, string> = {}) =>
      world.ask('PUT /api/applications/1/testimonial', {
        ...{ as, raw },
        headers: { ...paper, ...headers },
      })
    assert.equal((await testimonial(3)).status, 201)
    // Nor whether there was one (RFC 9110, section 9.3.4).
    assert.equal((await testimonial(3)).status, 201)
    const known = { 'If-Match': `"${hash('sha256', raw)}"` }
    assert.equal((await testimonial(3, known)).status, 412)
    assert.equal((await testimonial(2, known)).status, 200)
  })

  test('a file is read by the rules of its row and its field', async () => {
    const put = await world.ask('PUT /api/applications/1/cv', {
      as: 2,
      raw: pdf('mine'),
      headers: paper,
    })
    assert.equal(put.status, 201, put.text)
    const seen = async (asking: Asking) => {
      const row = await world.ask('GET /api/applications/1', asking)
      const file = await world.ask('GET /api/applications/1/cv', asking)
      return [row.status, row.json?.cv?.name ?? null, file.status]
    }
    assert.deepEqual(await seen({}), [401, null, 401])
    assert.deepEqual(await seen({ as: 2 }), [200, 'cv.pdf', 200])
    assert.deepEqual(await seen({ as: 3 }), [200, null, 404])
    assert.deepEqual(await seen({ as: 3, role: 'recruiter' }), [200, 'cv.pdf', 200])
    const { headers } = await bytesAt('/api/applications/1/cv', 2)
    assert.match(String(headers.get('cache-control')), /private/)
    // Nor is it put by who may change the row and not the field.
    const other = await world.ask('PUT /api/applications/1/cv', {
      as: 3,
      raw: pdf('x'),
      headers: paper,
    })
    assert.equal(other.status, 403)
  })

  test('a signed address opens its file without a token for five minutes, and no other', async () => {
    await world.ask('PUT /api/applications/1/cv', { as: 2, raw: pdf('signed'), headers: paper })
    const row = await world.ask('GET /api/applications/1?signed=1', { as: 2 })
    const { url } = row.json.cv
    assert.match(url, /^\/api\/applications\/1\/cv\?v=/)
    assert.match(String(row.headers.get('cache-control')), /private/)
    const status = async (address: string) => (await bytesAt(address)).status
    assert.deepEqual((await bytesAt(url)).bytes, pdf('signed'))
    assert.equal(await status(url.replace('/1/', '/2/')), 403)
    assert.equal(
      await status(
        url.replace(/seal=./, (one: string) => (one === 'seal=A' ? 'seal=B' : 'seal=A')),
      ),
      403,
    )
    assert.equal(await status(`${url.slice(0, -2)}AA`), 403)
    assert.equal(await status(url.replace(/&seal=.*/, '')), 401)
    // The same bytes in another row have an address of their own.
    const made = await world.ask('POST /api/applications', { as: 2, body: { letter: 'Also' } })
    const at = `PUT /api/applications/${made.json.id}/cv`
    await world.ask(at, { as: 2, raw: pdf('signed'), headers: paper })
    assert.equal(await status(url.replace('/1/', `/${made.json.id}/`)), 403)
    try {
      ahead = 290_000
      assert.equal(await status(url), 200)
      ahead = 300_000
      assert.equal(await status(url), 403)
    } finally {
      ahead = 0
    }
    // It is of these bytes: who puts others withdraws it.
    await world.ask('PUT /api/applications/1/cv', { as: 2, raw: pdf('other'), headers: paper })
    assert.equal(await status(url), 403)
    // Who may not read the file gets no address, and the row as it is answered otherwise has none.
    const others = await world.ask('GET /api/applications/1?signed=1', { as: 3 })
    assert.equal(others.json.cv, null)
    const plain = await world.ask('GET /api/applications/1', { as: 2 })
    assert.match(plain.json.cv.url, /\?v=[0-9a-f]{12}$/)
    assert.equal((await world.ask('GET /api/applications/1?signed=yes', { as: 2 })).status, 422)
  })

  test('a row that is sent back whole keeps its file', async () => {
    const made = await album({ cover: await upload(png(1, 1)) })
    const put = (cover: unknown) =>
      world.ask(`PUT /api/albums/${made.id}`, { as: 2, body: { title: 'Again', cover } })
    const kept = await put(made.cover)
    assert.equal(kept.status, 200, kept.text)
    assert.deepEqual(kept.json.cover, made.cover)
    const other = { ...made.cover, url: made.cover.url.replace(/v=.*/, `v=${'0'.repeat(12)}`) }
    assert.equal((await put(other)).status, 422)
    assert.equal((await put(null)).json.cover, null)
  })

  test('a form has one file, whose name it says', async () => {
    const form = (parts: readonly string[]) => {
      const body = parts
        .map(part => `--cut\r\nContent-Disposition: form-data; ${part}\r\n`)
        .join('')
      const headers = { 'Content-Type': 'multipart/form-data; boundary=cut' }
      return send(new Uint8Array(Buffer.from(`${body}--cut--\r\n`, 'latin1')), { headers })
    }
    const data = Buffer.from(png(9, 9)).toString('latin1')
    const file = `name="file"; filename="../x/nine.png"\r\nContent-Type: image/png\r\n\r\n${data}`
    const sent = await form([`name="other"\r\n\r\nvalue`, file])
    assert.equal(sent.status, 201, sent.text)
    assert.equal(sent.json.name, 'nine.png')
    assert.equal(sent.json.width, 9)
    // A part whose sender says no type is told by its bytes, and not taken for text.
    const untyped = await form([file.replace('\r\nContent-Type: image/png', '')])
    assert.deepEqual([untyped.status, untyped.json.type], [201, 'image/png'])
    assert.equal((await form([`name="other"\r\n\r\nvalue`])).status, 400)
    assert.equal((await form([file, file])).status, 400)
    // What is refused of a file in a form is an answer, as of one that is the body.
    const page = file.replace(data, '<script>alert(1)</script>')
    assert.equal((await form([page])).status, 415)
    const large = file.replace(data, Buffer.from(png(1, 1, 4_000_001)).toString('latin1'))
    assert.equal((await form([large])).status, 413)
    assert.equal((await form(['name="file"; filename="a"'])).status, 400)
    const torn = { 'Content-Type': 'multipart/form-data; boundary=cut' }
    assert.equal(
      (await send(new Uint8Array(Buffer.from('--cut\r\nContent-')), { headers: torn })).status,
      400,
    )
    const open = `--cut\r\nContent-Disposition: form-data; ${file}`
    const cutOff = await send(new Uint8Array(Buffer.from(open, 'latin1')), { headers: torn })
    assert.equal(cutOff.status, 400, cutOff.text)
    const nothing = { 'Content-Type': 'multipart/form-data' }
    assert.equal((await send(png(1, 1), { headers: nothing })).status, 400)
  })

  test('only who may give some row a file sends one', async () => {
    assert.equal((await send(png(1, 1), { as: 'anonymous' })).status, 401)
  })

  const waiting = async () => {
    const [[count] = []] = await world.rows('select count(*) from uploads')
    return Number(count)
  }

  test('of two who replace a file at once one is first, and the bytes of the other wait for nothing', async () => {
    const { id } = await album()
    const before = await waiting()
    const put = (width: number, more: Record<string, string> = {}) =>
      world.ask(`PUT /api/albums/${id}/cover`, {
        as: 2,
        raw: png(width, 1),
        headers: { ...picture, ...more },
      })
    const both = await Promise.all([put(11), put(12)])
    assert.deepEqual(pluck(both, 'status').sort(), [200, 201])
    const row = await world.ask(`GET /api/albums/${id}`)
    const { width } = row.json.cover
    assert.ok([11, 12].includes(width))
    assert.deepEqual((await bytesAt(row.json.cover.url)).bytes, png(width, 1))
    const match = { 'If-Match': String(row.headers.get('etag')) }
    const guarded = await Promise.all([put(13, match), put(14, match)])
    assert.deepEqual(pluck(guarded, 'status').toSorted(), [200, 412])
    const winner = guarded.findIndex(({ status }) => status === 200)
    assert.equal((await world.ask(`GET /api/albums/${id}`)).json.cover.width, 13 + winner)
    const old = { as: 2, headers: match }
    assert.equal((await world.ask(`DELETE /api/albums/${id}/cover`, old)).status, 412)
    assert.equal(await waiting(), before)
  })

  test('what is received and then refused does not count among the uploads that wait', async () => {
    const before = await waiting()
    const at = 'PUT /api/applications/1/cv'
    const raw = pdf('not mine to give')
    assert.equal((await world.ask(at, { as: 3, raw, headers: paper })).status, 403)
    assert.equal(await waiting(), before)
    const { store } = world.core.files ?? {}
    assert.ok(store)
    const part = (name: string) =>
      `--cut\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n%PDF-1.7 ${name}\r\n`
    const form = { 'Content-Type': 'multipart/form-data; boundary=cut' }
    const two = new Uint8Array(Buffer.from(`${part('a.pdf')}${part('b.pdf')}--cut--\r\n`))
    assert.equal((await send(two, { headers: form })).status, 400)
    // One that is cut off in its file leaves nothing open and nothing behind.
    const begun = new Uint8Array(Buffer.from(`${part('c.pdf').slice(0, -2)}${'x'.repeat(9000)}`))
    let isSent = false
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: controller => {
          if (isSent) controller.error(new Error('it hangs up'))
          else controller.enqueue(begun)
          isSent = true
        },
      },
      { highWaterMark: 0 },
    )
    // It is announced as a large one, and so looked at while it comes.
    const announced = { ...form, 'Content-Length': '2000000' }
    const headers = { ...announced, Authorization: `Bearer ${await world.token(2)}` }
    const asked = { method: 'POST', body, headers, duplex: 'half' } as const
    const answer = await world.app.request('/api/files', asked)
    assert.ok(answer.status >= 400)
    const parts = join(store.label.replace(/^the folder /, ''), 'parts')
    await until('no part of it is left', () => readdirSync(parts).length === 0)
    await until('none of them waits', async () => (await waiting()) === before)
  })

  test('an upload is over after 24 hours', async () => {
    const body = { cover: await upload(png(9, 1)) }
    // The first token is over by then, and that of another role is made anew.
    const give = () => world.ask('PATCH /api/albums/1', { as: 2, role: 'recruiter', body })
    try {
      ahead = 86_400_000
      const { status, json } = await give()
      assert.equal(status, 422)
      assert.match(json.detail, /within 24 hours/)
      ahead -= 60_000
      assert.equal((await give()).status, 200)
    } finally {
      ahead = 0
    }
  })

  test('so many uploads of a caller wait, by their bytes and their number, and no more', async () => {
    const letter = (n: number, length: number) => pdf(`${n}`.padEnd(length, ' '))
    const one = (n: number) => send(letter(n, 199_000), { as: 1, headers: paper })
    const first = await one(0)
    for (let n = 1; n < 20; n++) assert.equal((await one(n)).status, 201)
    const over = await one(20)
    assert.equal(over.status, 429)
    assert.match(over.json.detail, /4 MB together, or are 1000/)
    assert.ok(Number(over.headers.get('retry-after')) > 0)
    // It is told before the first byte is received, and of no other caller.
    assert.equal((await send(letter(20, 10), { as: 2, headers: paper })).status, 201)
    const body = { letter: 'With it', cv: first.json.id }
    assert.equal((await world.ask('POST /api/applications', { as: 1, body })).status, 201)
    // What waits for the one field is in the way of no other, which takes less.
    const little = { as: 1, role: 'admin', raw: png(9, 2), headers: picture }
    const put = await world.ask('PUT /api/albums/1/cover', little)
    assert.ok(put.status < 300, put.text)
    assert.equal((await one(20)).status, 201)
    // Small ones count for the room of their rows.
    await using small = await createWorld({ content: gallery, rows: galleryRows })
    const sent = await small.ask('POST /api/files', { as: 2, raw: pdf('x'), headers: paper })
    assert.equal(sent.status, 201)
    await small.change(`with recursive n (n) as (select 1 union all select n + 1 from n where n < 998)
      insert into uploads (id, owner, sender, digest, type, stored, bytes, created_at)
      select 'up_' || n, owner, sender, digest, type, stored, 0, created_at from uploads, n`)
    const next = () => small.ask('POST /api/files', { as: 2, raw: pdf('x'), headers: paper })
    assert.equal((await next()).status, 201)
    assert.equal((await next()).status, 429)
  })

  test('an upload that an action takes on is used once, and must fit the field that it becomes', async () => {
    const made = await album()
    const illustrate = (body: object, as = 2) =>
      world.ask(`POST /api/albums/${made.id}/illustrate`, { as, body })
    const [cover, image] = [await upload(png(3, 1)), await upload(png(4, 1))]
    const done = await illustrate({ cover, image })
    assert.equal(done.status, 200, done.text)
    assert.equal(done.json.cover.width, 3)
    const refused = async (body: object, field: string) => {
      const { status, json } = await illustrate(body)
      assert.equal(status, 422)
      assert.equal(json.errors[0].field, field)
    }
    const other = await upload(png(5, 1))
    await refused({ cover: null, image }, 'image')
    await refused({ cover, image: other }, 'cover')
    await refused({ cover: other, image: other }, 'cover')
    await refused({ cover: null, image: 'up_aaaaaaaaaaaaaaaaaaaaaa' }, 'image')
    await refused({ cover: null, image: await upload(png(1, 1), { as: 3 }) }, 'image')
    await refused({ cover: await upload(png(1, 1, 2000)), image: other }, 'cover')
    await refused({ cover: await upload(pdf('x'), { headers: paper }), image: other }, 'cover')
    const photos = await world.ask(`GET /api/albums/${made.id}/photos`)
    assert.equal(photos.json.data.length, 1)
    const mutation = `mutation ($input: IllustrateAlbumInput!) { illustrateAlbum(id: ${made.id}, input: $input) { cover { width } } }`
    const again = await world.gql(mutation, { as: 2, variables: { input: { image: other } } })
    assert.deepEqual(again.json.data?.illustrateAlbum, { cover: null }, again.text)
    const used = await world.gql(mutation, { as: 2, variables: { input: { image: other } } })
    assert.match(used.text, /no upload of yours that waits/)
  })

  test('an action whose body is bytes has its one effect under a key, which knows the bytes and outlives the row', async () => {
    const { id } = await album()
    const [first, other] = [png(3, 1), png(4, 1)]
    const scan = async (raw: typeof first, key = 'scan') => {
      const headers = { ...picture, 'Idempotency-Key': key }
      const told = await world.ask(`POST /api/albums/${id}/scan`, { as: 2, raw, headers })
      return [told.status, told.headers.get('idempotency-replayed')]
    }
    assert.deepEqual(await scan(first), [204, null])
    assert.deepEqual(await scan(other), [422, null])
    assert.equal((await world.ask(`DELETE /api/albums/${id}`, { as: 2 })).status, 204)
    assert.deepEqual(await scan(first), [204, 'true'])
    assert.deepEqual(await scan(other), [422, null])
    assert.deepEqual(await scan(other, 'another'), [404, null])
  })

  test('an upload under a key is one, however often it is sent, and also where its row has it by then', async () => {
    const sent = async (raw: ReturnType<typeof png>, key: string, as = 2) => {
      const told = await send(raw, { as, headers: { ...picture, 'Idempotency-Key': key } })
      return [told.status, told.json.id ?? told.json.code, told.headers.get('idempotency-replayed')]
    }
    const raw = png(5, 1, 77)
    const [[, id], [, again]] = [await sent(raw, 'up'), await sent(raw, 'up')]
    assert.equal(again, id)
    const [[waiting] = []] = await world.rows(
      `select count(*) from uploads where bytes = ${raw.length}`,
    )
    assert.equal(Number(waiting), 1)
    await album({ cover: id })
    assert.deepEqual(await sent(raw, 'up'), [201, id, 'true'])
    assert.deepEqual(await sent(png(6, 1), 'up'), [422, 'IDEMPOTENCY_KEY_REUSED', null])
    assert.deepEqual(await sent(raw, 'ü'), [400, 'MALFORMED_REQUEST', null])
    assert.notEqual((await sent(raw, 'up', 3))[1], id)
  })

  test('a text that looks like a stored file is none', async () => {
    const made = await album({ cover: await upload(png(1, 1)) })
    const [[stored] = []] = await world.rows(`select cover from albums where id = ${made.id}`)
    const forged = [String(stored), JSON.parse(String(stored)), 'v:000000000000', {}, ['up_x'], 7]
    for (const cover of forged) {
      const create = await world.ask('POST /api/albums', { as: 2, body: { title: 'x', cover } })
      assert.equal(create.status, 422, JSON.stringify(cover))
      const body = { create: [{ title: 'x', cover }] }
      assert.equal((await world.ask('POST /api/albums/bulk', { as: 2, body })).status, 422)
      const update = await world.ask('PATCH /api/albums/1', { as: 2, body: { cover } })
      assert.equal(update.status, 422)
      const mutation =
        'mutation ($input: UpdateAlbumInput!) { updateAlbum(id: 1, input: $input) { id } }'
      const told = await world.gql(mutation, { as: 2, variables: { input: { cover } } })
      assert.ok(told.json.errors, told.text)
    }
    // The file of one row is not given to another by what was read of it.
    const create = { title: 'x', cover: made.cover }
    assert.equal((await world.ask('POST /api/albums', { as: 2, body: create })).status, 422)
    const body = { cover: made.cover }
    assert.equal((await world.ask('PATCH /api/albums/1', { as: 2, body })).status, 422)
  })

  test('who may give a file and not read it learns nothing of the one that is there', async () => {
    const at = 'PUT /api/applications/1/testimonial'
    const put = await world.ask(at, { as: 3, raw: pdf('He is fine'), headers: paper })
    assert.equal(put.status, 201, put.text)
    const { url } = put.json
    const keep = (to: string, asking: Asking) =>
      world.ask('PATCH /api/applications/1', { ...asking, body: { testimonial: { url: to } } })
    const right = await keep(url, { as: 3 })
    const wrong = await keep(url.replace(/v=.*/, `v=${'0'.repeat(12)}`), { as: 3 })
    assert.deepEqual([right.status, wrong.status], [422, 422])
    assert.equal(right.json.detail, wrong.json.detail)
    assert.equal((await keep(url, { as: 3, role: 'recruiter' })).status, 200)
    // Nor by the validators and ranges of its address, or by its head.
    const [[stored] = []] = await world.rows('select testimonial from applications where id = 1')
    const { digest } = JSON.parse(String(stored))
    const address = '/api/applications/1/testimonial'
    const asked = [{ 'If-None-Match': `"${digest}"` }, { Range: 'bytes=0-3' }, {}]
    for (const headers of asked) {
      assert.equal((await world.ask(`GET ${address}`, { as: 3, headers })).status, 404)
      assert.equal((await world.ask(`HEAD ${address}`, { as: 3, headers })).status, 404)
      assert.equal((await world.ask(`GET ${address}?v=${digest}`, { headers })).status, 401)
    }
    const reader = { as: 3, role: 'recruiter', headers: { 'If-None-Match': `"${digest}"` } }
    assert.equal((await world.ask(`GET ${address}`, reader)).status, 304)
    assert.equal((await world.ask(`HEAD ${address}`, { as: 3, role: 'recruiter' })).status, 200)
  })

  test('no answer has the digest of a file, but for the beginning that its address has', async () => {
    const cover = await upload(png(6, 6))
    const made = await album({ cover })
    const [[stored] = []] = await world.rows(`select cover from albums where id = ${made.id}`)
    const { digest } = JSON.parse(String(stored))
    const answers = [
      await send(png(6, 6)),
      await world.ask(`PUT /api/albums/${made.id}/cover`, {
        as: 2,
        raw: png(6, 6),
        headers: picture,
      }),
      await world.ask(`GET /api/albums/${made.id}`),
      await world.ask(`GET /api/albums/${made.id}?signed=1`),
      await world.ask(`GET /api/albums/${made.id}?fields=cover`),
      await world.ask('GET /api/albums?limit=100'),
      await world.gql(`{ album(id: ${made.id}) { cover { name type bytes width height url } } }`),
      await world.ask(`PATCH /api/albums/${made.id}`, { as: 2, body: { cover: 'x' } }),
    ]
    for (const { text } of answers) assert.ok(!text.includes(digest.slice(0, 20)), text)
    assert.equal((await world.gql(`{ album(id: ${made.id}) { cover } }`)).json.data, undefined)
    assert.ok(!JSON.stringify(world.events).includes(digest))
  })

  test('no name of a file breaks the header that has it', async () => {
    const { id } = await album()
    const names = [
      ["filename*=UTF-8''a%0D%0ASet-Cookie%3A%20x%3D1.png", 'aSet-Cookie: x=1.png'],
      ["filename*=UTF-8''say%20%22hi%22%00%E2%80%AE.png", 'say "hi".png'],
      ["filename*=UTF-8''..%2F..%2Fpasswd.png", 'passwd.png'],
      ['filename="a\\"; filename*=x.png"', 'a"; filename*=x.png'],
      [`filename*=UTF-8''${encodeURIComponent(`${'🙂'.repeat(400)}.png`)}`, undefined],
    ] as const
    for (const [said, name] of names) {
      const headers = { ...picture, 'Content-Disposition': `attachment; ${said}` }
      const put = await world.ask(`PUT /api/albums/${id}/cover`, { as: 2, raw: png(1, 1), headers })
      assert.ok(put.status === 200 || put.status === 201, put.text)
      if (name !== undefined) assert.equal(put.json.name, name)
      assert.ok([...put.json.name].length <= 200)
      const read = await bytesAt(put.json.url)
      assert.equal(read.headers.get('set-cookie'), null)
      const shown = String(read.headers.get('content-disposition'))
      assert.match(shown, /^inline; filename="[^"\\]*"; filename\*=UTF-8''[\w.~%!&+^`|$-]+$/)
      const [, encoded = ''] = /filename\*=UTF-8''(.*)$/.exec(shown) ?? []
      assert.equal(decodeURIComponent(encoded), put.json.name)
    }
    const photos = { create: [{ image: await upload(png(1, 1)) }] }
    const { id: other } = await album({ photos })
    const [photo] = (await world.ask(`GET /api/albums/${other}/photos`)).json.data
    const unnamed = await world.ask(`PUT /api/photos/${photo.id}/image`, {
      ...{ as: 2, raw: new Uint8Array([0, 1, 2, 255]) },
      headers: { 'Content-Type': 'image/constructor' },
    })
    assert.deepEqual([unnamed.status, unnamed.json.name], [200, 'image'])
    const broken = { ...picture, 'Content-Disposition': "attachment; filename*=UTF-8''%ff.png" }
    const at = `PUT /api/albums/${id}/cover`
    assert.equal((await world.ask(at, { as: 2, raw: png(1, 1), headers: broken })).status, 400)
  })

  test('a picture whose place cannot be taken out is refused where it is to be', async () => {
    const heic = new Uint8Array(
      Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic'.padEnd(64, '\0'), 'latin1'),
    )
    const headers = { 'Content-Type': 'image/heic' }
    const sent = await send(heic, { headers })
    assert.equal(sent.status, 415, sent.text)
    assert.match(
      sent.json.detail,
      /place and camera can be taken, such as a JPEG, and is image\/heic/,
    )
    const { id } = await album({ photos: { create: [{ image: await upload(png(1, 1)) }] } })
    const photos = await world.ask(`GET /api/albums/${id}/photos`)
    const [photo] = photos.json.data
    const kept = await world.ask(`PUT /api/photos/${photo.id}/image`, { as: 2, raw: heic, headers })
    assert.equal(kept.status, 200, kept.text)
  })

  test('it is asked which rows have a file, in both APIs, and nothing else of it', async () => {
    await using asked = await createWorld({ content: gallery, rows: galleryRows })
    const made = await asked.ask('POST /api/albums', { as: 2, body: { title: 'Empty' } })
    const raw = png(1, 1)
    await asked.ask('PUT /api/albums/1/cover', { as: 2, raw, headers: picture })
    for (const [isNull, ids] of [
      [true, [made.json.id]],
      [false, [1]],
    ] as const) {
      const idsOf = (rows: readonly { id: number | string }[]) => rows.map(({ id }) => Number(id))
      const list = await asked.ask(`GET /api/albums?cover[isNull]=${isNull}`)
      assert.equal(list.status, 200, list.text)
      assert.deepEqual(idsOf(list.json.data), ids)
      const where = `where: { cover: { isNull: ${isNull} } }`
      const told = await asked.gql(`{ albums(${where}) { id } }`)
      assert.deepEqual(idsOf(told.json.data?.albums ?? []), ids, told.text)
    }
    const refused = async (query: string, message: RegExp) => {
      const { status, text } = await asked.ask(`GET /api/albums${query}`)
      assert.equal(status, 422, text)
      assert.match(text, message)
    }
    await refused('?cover[eq]=up_a', /cover takes isNull/)
    await refused('?sort=cover', /sort/)
    await refused('/aggregate?group=cover', /group/)
    await refused('/aggregate?max=cover', /max/)
    // One that is never null is asked nothing.
    const photos = await asked.ask('GET /api/photos?image[isNull]=true')
    assert.equal(photos.status, 422, photos.text)
    // Who may not read the file of a row learns nothing of it.
    await asked.ask('PUT /api/applications/1/cv', { as: 2, raw: pdf('mine'), headers: paper })
    for (const is of [true, false]) {
      const path = `GET /api/applications?cv[isNull]=${is}`
      for (const as of [2, 3]) assert.equal((await asked.ask(path, { as })).status, 403)
      const where = `where: { cv: { isNull: ${is} } }`
      const told = await asked.gql(`{ applications(${where}) { id } }`, { as: 3 })
      assert.equal(told.json.errors[0].extensions.code, 'FORBIDDEN')
    }
  })

  test('all files together have no more bytes than the operator allows, whether they are there or not', async () => {
    await using small = await createWorld({ content: gallery, rows: galleryRows, mostFiles: 100 })
    const put = (width: number) =>
      small.ask('PUT /api/albums/1/cover', { as: 2, raw: png(width, 1), headers: picture })
    assert.equal((await put(1)).status, 201)
    const full = await put(2)
    assert.equal(full.status, 507)
    assert.equal(full.json.code, 'STORAGE_FULL')
    // Else anybody could ask whether the store has some bytes.
    const known = await put(1)
    assert.deepEqual({ ...known.json, requestId: '' }, { ...full.json, requestId: '' })
  })

  test('several at once have no more bytes than that either', async () => {
    await using small = await createWorld({ content: gallery, rows: galleryRows, mostFiles: 170 })
    const papers = Array.from({ length: 20 }, (_, at) => pdf(`${at}`.padStart(3)))
    await Promise.all(
      papers.map(raw => small.ask('POST /api/files', { as: 2, raw, headers: paper })),
    )
    const [[bytes] = []] = await small.rows('select sum(bytes) from files')
    assert.equal(Number(bytes), Math.floor(170 / pdf('123').length) * pdf('123').length)
  })
})
