/** Pictures in sizes, and without what cameras write. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { folderStore } from '#files/folder.ts'
import { cleaned, type Pixels, sized } from '#files/sizes.ts'
import { placeOf } from '#files/store.ts'

const root = mkdtempSync(join(tmpdir(), 'duet-sizes-'))
const store = folderStore(root)
after(() => rmSync(root, { recursive: true, force: true }))

const red = { r: 200, g: 20, b: 20 }
const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: red } })

/** A picture as a phone writes it: with its place, its camera, and turned. */
const byPhone = (type: 'jpeg' | 'png' | 'webp' | 'avif') =>
  plain(60, 40)
    .withExif({ IFD0: { Make: 'Camera' }, IFD3: { GPSLatitude: '52/1 0/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .toFormat(type)
    .toBuffer()

const put = async (bytes: Uint8Array, type: string) => {
  let size: Pixels | undefined
  const through = async (path: string) => {
    const { isChanged, ...found } = await cleaned(type, path)
    size = found
    return isChanged
  }
  const stored = await store.put(Readable.from([bytes]), { through })
  return { ...stored, size, kept: await buffer(await store.open(stored.digest)) }
}

for (const type of ['jpeg', 'png', 'webp'] as const)
  test(`a ${type} loses its place and camera, and is turned as they said`, async () => {
    const sent = await byPhone(type)
    assert.ok((await sharp(sent).metadata()).exif)
    const { kept, size, digest, bytes } = await put(sent, `image/${type}`)
    const { exif, orientation, format, width, height } = await sharp(kept).metadata()
    assert.deepEqual([exif, orientation, format], [undefined, undefined, type])
    assert.deepEqual([width, height, size], [40, 60, { width: 40, height: 60 }])
    assert.equal(kept.includes('Camera'), false)
    assert.deepEqual([digest, bytes], [hash('sha256', kept), kept.length])
    assert.equal(statSync(join(root, placeOf(digest))).mode & 0o777, 0o600)
  })

test('an AVIF loses what a camera wrote', async () => {
  const { kept, size } = await put(await byPhone('avif'), 'image/avif')
  assert.equal((await sharp(kept).metadata()).exif, undefined)
  assert.ok(size)
})

test('a picture without such things stays to the byte', async () => {
  for (const type of ['jpeg', 'png', 'webp', 'gif'] as const) {
    const sent = await plain(30, 20).toFormat(type).toBuffer()
    const { kept, size } = await put(sent, `image/${type}`)
    assert.ok(kept.equals(sent), type)
    assert.deepEqual(size, { width: 30, height: 20 })
  }
})

test('a PNG that is cleaned keeps each of its colours', async () => {
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const
  const create = { width: 90, height: 60, channels: 3 as const, background: red, noise }
  const sent = await sharp({ create })
    .withExif({ IFD0: { Make: 'Camera' } })
    .png()
    .toBuffer()
  const { kept } = await put(sent, 'image/png')
  assert.equal((await sharp(kept).metadata()).exif, undefined)
  const [before, after] = await Promise.all([sent, kept].map(one => sharp(one).raw().toBuffer()))
  assert.ok(before && after?.equals(before))
})

test('a PNG of sixteen bits that is cleaned keeps each of its values', async () => {
  const values = Uint16Array.from({ length: 90 * 60 * 3 }, (_, at) => (at * 7919) % 65_536)
  for (const space of ['rgb16', 'grey16'] as const) {
    const sent = await sharp(values, { raw: { width: 90, height: 60, channels: 3 } })
      .toColourspace(space)
      .withExif({ IFD0: { Make: 'Camera' } })
      .png()
      .toBuffer()
    const { kept } = await put(sent, 'image/png')
    const [was, is] = await Promise.all([sent, kept].map(one => sharp(one).metadata()))
    assert.deepEqual([is?.exif, is?.space, is?.depth], [undefined, was?.space, 'ushort'])
    const [before, after] = await Promise.all(
      [sent, kept].map(one => sharp(one).toColourspace(space).raw({ depth: 'ushort' }).toBuffer()),
    )
    assert.ok(before && after?.equals(before), space)
  }
})

test('a picture that is torn, or of too many pixels, is refused, and nothing of it is left', async () => {
  const whole = await plain(400, 300).jpeg().toBuffer()
  const interlaced = await plain(400, 300).png({ progressive: true }).toBuffer()
  const bomb = await sharp({ create: { width: 8000, height: 8000, channels: 3, background: red } })
    .png({ compressionLevel: 1 })
    .toBuffer()
  for (const [sent, type] of [
    [whole.subarray(0, whole.length / 2), 'image/jpeg'],
    [interlaced.subarray(0, interlaced.length / 2), 'image/png'],
    [bomb, 'image/png'],
    [Buffer.from('GIF89a'), 'image/gif'],
  ] as const)
    await assert.rejects(put(sent, type), {
      code: 'VALIDATION_ERROR',
      message: /^The picture cannot be read: .*at most 50 million pixels$/s,
    })
  assert.deepEqual(readdirSync(join(root, 'parts')), [])
})

const noFullDisk = !existsSync('/dev/full') && 'this system has no /dev/full'

test('callers take turns with their pictures, and one of them holds half the places at most [H5]', async () => {
  const path = join(root, 'turn.png')
  await plain(8, 8).png().toFile(path)
  const order: string[] = []
  const by = (name: string) =>
    cleaned('image/png', path, { caller: () => name }).then(() => order.push(name))
  const many = Array.from({ length: 64 }, () => by('many'))
  await Promise.all([by('one'), assert.rejects(by('many'), { code: 'OVERLOADED' }), ...many])
  assert.equal(order.indexOf('one'), 2)
})

test('a picture is cleaned on the disk, and one for which that has no room is told of so', {
  skip: noFullDisk,
}, async () => {
  const through = async (path: string) => {
    symlinkSync('/dev/full', `${path}.part`)
    return (await cleaned('image/png', path)).isChanged
  }
  const sent = Readable.from([await byPhone('png')])
  await assert.rejects(store.put(sent, { through }), { code: 'STORAGE_FULL' })
  assert.deepEqual(readdirSync(join(root, 'parts')), [])
})

const accepted: readonly (readonly [string, string])[] = [
  ['', 'image/jpeg'],
  ['*/*', 'image/jpeg'],
  ['image/avif,image/webp,image/*,*/*;q=0.8', 'image/avif'],
  ['image/webp,*/*;q=0.8', 'image/webp'],
  ['image/avif;q=0, image/webp', 'image/webp'],
  ['image/webp;q=0.1, image/jpeg', 'image/jpeg'],
]

for (const [accept, type] of accepted)
  test(`Accept: ${accept} gives a size as ${type}`, async () => {
    const sent = await plain(64, 48).jpeg().toBuffer()
    const { digest } = await store.put(Readable.from([sent]))
    const made = await sized(store, { digest, type: 'image/jpeg' }, 32, accept)
    const kept = await buffer(await store.open(made.stored))
    const { width, height, format, compression } = await sharp(kept).metadata()
    assert.deepEqual([made.type, made.bytes, width, height], [type, kept.length, 32, 24])
    assert.equal(`image/${compression === 'av1' ? 'avif' : format}`, type)
    // The next one finds it.
    assert.deepEqual(await sized(store, { digest, type: 'image/jpeg' }, 32, accept), made)
  })

test('who asks at once for a new size waits for the same, which is no wider than its source and goes with it', async () => {
  const { digest } = await store.put(Readable.from([await plain(90, 90).png().toBuffer()]))
  const asked = Array.from({ length: 100 }, () =>
    sized(store, { digest, type: 'image/png' }, 450, ''),
  )
  const names = new Set((await Promise.all(asked)).map(({ stored }) => stored))
  const name = `${digest}.450.png`
  assert.deepEqual([...names], [name])
  assert.equal((await sharp(await buffer(await store.open(name))).metadata()).width, 90)
  await store.remove(digest)
  assert.equal(await store.size(name), undefined)
})

test('more sizes than may wait are refused at once', async () => {
  const { digest } = await store.put(Readable.from([await plain(80, 80).png().toBuffer()]))
  const asked = Array.from({ length: 70 }, (_, at) =>
    sized(store, { digest, type: 'image/png' }, 1 + at, ''),
  )
  const codes = (await Promise.allSettled(asked)).map(
    one => one.status === 'rejected' && one.reason.code,
  )
  assert.deepEqual([...new Set(codes)].sort(), ['OVERLOADED', false])
})

test('what is no picture, or none that can be read, has no sizes', async () => {
  const { digest } = await store.put(Readable.from([Buffer.from('\xff\xd8\xffnothing', 'latin1')]))
  await assert.rejects(sized(store, { digest, type: 'text/plain' }, 32, ''), {
    message: 'There are no sizes of text/plain; leave w out',
  })
  await assert.rejects(sized(store, { digest, type: 'image/jpeg' }, 32, ''), {
    code: 'NOT_FOUND',
    message: /cannot be made of the picture/,
  })
})

test('without sharp a field of pictures stops the start unless they are kept as they are, and sizes are absent with the remedy', async () => {
  // In a process of its own, where the package is not found.
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve(name, context, next) {
        if (name === 'sharp') throw Object.assign(new Error('no sharp'), { code: 'ERR_MODULE_NOT_FOUND' })
        return next(name, context)
      },
    })
    const { checkPictures, pictureSize, sized } = await import('#files/sizes.ts')
    const { entity, file, id } = await import('#entry/model.ts')
    const told = error => error.message
    const check = options =>
      checkPictures({ album: entity({ table: 'albums', plural: 'albums', fields: { id: id(), cover: file(options) }, policy: {} }) }).then(() => 'starts', told)
    const max = '1 MB'
    console.log(JSON.stringify([
      await check({ accept: ['image/png'], max }),
      await check({ accept: ['image/*'], max }),
      await check({ accept: ['image/png'], max, exif: 'kept' }),
      await check({ accept: ['application/pdf'], max }),
      await check({ accept: ['image/svg+xml', 'image/heic'], max }),
      await check({ accept: ['image/heic'], max, exif: 'kept' }),
      await sized({}, { digest: '', type: 'image/png' }, 16, '').catch(told),
      await pictureSize('image/png', 'a'),
    ]))`
  const args = ['--import=./src/base/resolve-imports.ts', '--input-type=module', '-e', script]
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd })
  const refused =
    "album.cover takes pictures, out of which sharp takes their place and camera, and sharp is not installed: npm install sharp, or say exif: 'kept' in the field"
  assert.deepEqual(JSON.parse(stdout), [
    refused,
    refused,
    'starts',
    'starts',
    "album.cover takes image/heic, out of which place and camera cannot be taken: leave it out of accept, or say exif: 'kept' in the field",
    'starts',
    'There are no sizes here, as sharp is not installed; leave w out, or have the operator run npm install sharp',
    { width: null, height: null },
  ])
})
