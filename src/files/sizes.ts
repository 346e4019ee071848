/**
 * Pictures in declared sizes, and without what a camera wrote into them, by sharp: libvips reads no more of a picture than it needs, and
 * code of our own could not read them at all. It is optional, as it is native, and loaded when it is first needed.
 */
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { FormatEnum, Sharp, SharpOptions } from 'sharp'
import { type Asking, createSlowLane } from '#base/slow-lane.ts'
import { ApiError } from '#errors.ts'
import type { FileStore } from '#files/store.ts'
import { preferred, rangesOf } from '#http/accept.ts'
import type { Entity } from '#model/entity.ts'
import { fileFields } from '#model/stored-file.ts'
import { ConfigError } from '#settings.ts'

type Open = (input: string | Uint8Array, options: SharpOptions) => Sharp

let loading: Promise<Open | undefined> | undefined

/** What opens pictures; undefined where sharp is not installed. */
const opener = (): Promise<Open | undefined> => {
  loading ??= import('sharp').then(
    ({ default: sharp }) => {
      // One picture at a time is made, by one thread, so that requests have the others.
      sharp.concurrency(1)
      sharp.cache(false)
      return sharp
    },
    () => undefined,
  )
  return loading
}

/** How to get what is missing. */
const sharpRemedy = 'npm install sharp'

/** The types of pictures that are read, each with the name of its format. */
const formats: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
}

/** Whether a field takes pictures that can be read. */
export const takesPictures = ({ accept }: { readonly accept: readonly string[] }): boolean =>
  accept.some(type => type === 'image/*' || formats[type] !== undefined)

/** Throws where a field takes pictures out of which their place is to be taken, and nothing can do that. */
export const checkPictures = async (entities: Readonly<Record<string, Entity>>): Promise<void> => {
  const cleaning = fileFields(entities).filter(({ file }) => file.exif !== 'kept')
  for (const { entityName, key, file } of cleaning) {
    const type = file.accept.find(isUncleanable)
    if (type !== undefined)
      throw new ConfigError(
        `${entityName}.${key} takes ${type}, out of which place and camera cannot be taken: leave it out of accept, or say exif: 'kept' in the field`,
      )
    if (takesPictures(file) && !(await opener()))
      throw new ConfigError(
        `${entityName}.${key} takes pictures, out of which sharp takes their place and camera, and sharp is not installed: ${sharpRemedy}, or say exif: 'kept' in the field`,
      )
  }
}

/** Whether what a camera writes into pictures of this type is found and taken out. */
export const isCleaned = (type: string): boolean => formats[type] !== undefined

export type Pixels = { readonly width: number; readonly height: number }

/** Pictures that no camera writes. */
const drawn: ReadonlySet<string> = new Set([
  'image/svg+xml',
  'image/bmp',
  'image/x-ms-bmp',
  'image/x-icon',
  'image/vnd.microsoft.icon',
])

/** Whether a type is of pictures in which a camera may write, and that cannot be taken out. */
export const isUncleanable = (type: string): boolean =>
  type.startsWith('image/') && type !== 'image/*' && !isCleaned(type) && !drawn.has(type)

// A picture of a few kilobytes may have a billion pixels.
const options: SharpOptions = { limitInputPixels: 50_000_000, failOn: 'error' }
const seconds = 10

/** One after another: each takes a processor and the memory of a whole picture. A file of two kilobytes may take all the seconds. */
const lane = createSlowLane({ concurrency: 1, waiting: 127, longestWait: 60_000, what: 'pictures' })

/** Writes each format so that a second reading of a photograph is not seen, at a price that a request may wait for. */
const written = (picture: Sharp, type: string, quality: number): Sharp => {
  const format = formats[type] ?? 'png'
  // A PNG of some quality would have 256 colours.
  const chosen = format === 'png' ? {} : { quality, ...(format === 'avif' && { effort: 2 }) }
  return picture.timeout({ seconds }).toFormat(format as keyof FormatEnum, chosen)
}

/**
 * Takes what a camera or a program wrote into a picture at a path out of it, its place too, and turns it as they said it is to be shown.
 * Gives its width and height, and whether it was changed. Throws `VALIDATION_ERROR` for a picture that is not whole, or has more than 50 million pixels.
 */
export const cleaned = (
  type: string,
  path: string,
  asking: Asking = {},
): Promise<Pixels & { readonly isChanged: boolean }> =>
  lane.run(async () => {
    const open = await opener()
    if (!open) throw new Error(`sharp cleans pictures and is not installed: ${sharpRemedy}`)
    // One of 150 MB would be held twice in memory.
    const made = `${path}.part`
    try {
      const source = open(path, { ...options, animated: true })
      const found = await source.metadata()
      const { space, exif, xmp, iptc, orientation = 1, width, height, pageHeight } = found
      if (width * height > Number(options.limitInputPixels))
        throw new Error('it has more than 50 million pixels')
      const isChanged = Boolean(exif || xmp || iptc) || orientation !== 1
      if (isChanged) {
        // A PNG of 16 bits would have eight.
        const deep = space.endsWith('16') ? source.toColourspace(space) : source
        await written(deep.autoOrient().keepIccProfile(), type, 92).toFile(made)
        await rename(made, path)
      } else {
        // It is read whole all the same, so that a torn one is found now.
        await source.timeout({ seconds }).resize(1).raw().toBuffer()
      }
      const turned = orientation === 1 ? { width, height: pageHeight ?? height } : found.autoOrient
      return { ...turned, isChanged }
    } catch (error) {
      await rm(made, { force: true })
      // libvips has no codes: the store tells of this one.
      if (full.test((error as Error).message))
        throw Object.assign(error as Error, { code: 'ENOSPC' })
      throw unreadable(error)
    }
  }, asking)

const full = /No space left on device|Disk quota exceeded/

const unreadable = (error: unknown): ApiError =>
  new ApiError(
    'VALIDATION_ERROR',
    `The picture cannot be read: ${String((error as Error).message).slice(0, 200)}; send one that is whole and has at most 50 million pixels`,
    { cause: error },
  )

/** The width and height in pixels of the picture at a path; nulls for another file, for one that cannot be read, and without sharp. */
export const pictureSize = async (type: string, path: string) => {
  const open = isCleaned(type) ? await opener() : undefined
  const found = await open?.(path, options)
    .metadata()
    .catch(() => undefined)
  return { width: found?.width ?? null, height: found?.height ?? null }
}

/** The type in which a size is given: what the caller names of those that are smaller, else that of its source. */
const typeFor = (type: string, accept: string): string => {
  const named = rangesOf(accept)
    .filter(({ weight }) => weight > 0)
    .map(({ value }) => value)
  const offered = (['image/avif', 'image/webp'] as const).filter(one => named.includes(one))
  return preferred(accept, [...offered, type]) ?? type
}

/** Sizes that are being made, so that many who ask for a new one wait for the same, also where the first of them is gone. */
const making = new Map<string, Promise<number>>()

/**
 * A picture in that width, or its own where it is narrower, as what `serveFile` takes of it: made when it is first
 * asked for, and kept beside its source. Throws `NOT_FOUND` with the remedy where it cannot be made.
 */
export const sized = async (
  store: FileStore,
  { digest, type: source }: { readonly digest: string; readonly type: string },
  width: number,
  accept: string,
  by: Pick<Asking, 'caller'> = {},
) => {
  const type = typeFor(source, accept)
  const format = formats[type]
  const open = await opener()
  if (!open || !formats[source])
    throw new ApiError(
      'NOT_FOUND',
      open
        ? `There are no sizes of ${source}; leave w out`
        : `There are no sizes here, as sharp is not installed; leave w out, or have the operator run ${sharpRemedy}`,
    )
  const name = `${digest}.${width}.${format}`
  const make = async (): Promise<number> => {
    const kept = await store.size(name)
    if (kept !== undefined) return kept
    const made = await lane.run(async () => {
      const picture = open(await buffer(await store.open(digest)), options)
      return written(picture.autoOrient().resize({ width, withoutEnlargement: true }), type, 80)
        .toBuffer()
        .catch(cause => {
          const message = 'This size cannot be made of the picture; leave w out'
          throw new ApiError('NOT_FOUND', message, { cause })
        })
    }, by)
    return (await store.put(Readable.from([made]), { as: name })).bytes
  }
  const known = making.get(name) ?? make().finally(() => making.delete(name))
  making.set(name, known)
  return { stored: name, type, bytes: await known }
}
