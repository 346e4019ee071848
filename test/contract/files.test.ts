/** Files of rows: put at their address or given as an upload, shown in both APIs, and read by the rules of row and field. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { gallery, galleryRows, pdf, png } from '../support/gallery.ts'
import { type Asking, createWorld, type World } from '../world.ts'

const picture = { 'Content-Type': 'image/png' }
const paper = {
  'Content-Type': 'application/pdf',
  'Content-Disposition': 'attachment; filename="cv.pdf"',
}

suite('files', () => {
  let world: World
  before(async () => {
    world = await createWorld({ content: gallery, rows: galleryRows })
  })
  after(() => world.close())

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
    assert.equal(put.status, 200, put.text)
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
    assert.equal((await put({ as: 2, headers: match })).status, 200)
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

  test('a file is read by the rules of its row and its field', async () => {
    const put = await world.ask('PUT /api/applications/1/cv', {
      as: 2,
      raw: pdf('mine'),
      headers: paper,
    })
    assert.equal(put.status, 200, put.text)
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
    assert.equal(await status(url.replace(/until=\d/, 'until=9')), 403)
    assert.equal(await status(`${url.slice(0, -2)}AA`), 403)
    assert.equal(await status(url.replace(/&seal=.*/, '')), 401)
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
    const gone = await put(null)
    assert.equal(gone.json.cover, null)
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

  test('all files together have no more bytes than the operator allows', async () => {
    const small = await createWorld({ content: gallery, rows: galleryRows, mostFiles: 100 })
    try {
      const put = (width: number) =>
        small.ask('PUT /api/albums/1/cover', { as: 2, raw: png(width, 1), headers: picture })
      assert.equal((await put(1)).status, 200)
      const full = await put(2)
      assert.equal(full.status, 507)
      assert.equal(full.json.code, 'STORAGE_FULL')
      // Bytes that are there already take no more room.
      assert.equal((await put(1)).status, 200)
    } finally {
      await small.close()
    }
  })
})
