/** A file that is taken into the store: told by its first bytes, its name and its sender, within what is taken, and without what a camera wrote. */
import { own } from '#base/object.ts'
import type { Asking } from '#base/slow-lane.ts'
import { ApiError } from '#errors.ts'
import { cleaned, isCleaned, isUncleanable, type Pixels, pictureSize } from '#files/sizes.ts'
import type { FileStore } from '#files/store.ts'
import { safeName, typeOf, typesOfBytes } from '#files/type.ts'
import type { Chunks } from '#http/reply.ts'
import type { StoredFile } from '#model/stored-file.ts'
import { accepts, inBytes } from '#write/claims.ts'

/** A file on its way, with what its sender says of it. */
export type Incoming = {
  readonly stream: Chunks
  readonly name: string | undefined
  readonly type: string | undefined
  readonly from?: Asking
}

/** What is taken: the types and the most bytes; and the field that says so, if it is one. */
export type TakenFiles = {
  /** Whether a picture keeps what a camera wrote into it. */
  readonly exif: 'kept' | undefined
  readonly accept: readonly string[]
  readonly max: number
  readonly field?: string
}

/** The error for a file that does not fit what is taken, which names the field. */
const misfit = (
  { field }: Pick<TakenFiles, 'field'>,
  code: 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE',
  message: string,
  headers: Readonly<Record<string, string>> = {},
) => {
  const details = field === undefined ? {} : { details: [{ field, message }] }
  return new ApiError(code, `The file ${message}`, { headers, ...details })
}

/** Throws for a file of so many bytes, which its head may announce. */
export const checkSize = (bytes: number, taken: TakenFiles): void => {
  if (bytes > taken.max)
    throw misfit(taken, 'PAYLOAD_TOO_LARGE', `must be at most ${inBytes(taken.max)}`)
}

/** Throws for a type that is not taken. */
const checkType = (type: string, taken: Pick<TakenFiles, 'accept' | 'field'>): void => {
  const { accept } = taken
  if (accepts(accept, type)) return
  const message = `must be ${accept.join(' or ')}, and is ${type}`
  throw misfit(taken, 'UNSUPPORTED_MEDIA_TYPE', message, { Accept: accept.join(', ') })
}

/** The one of these types that bytes are, whatever anybody says; throws for others. */
export const typeAmong = async (bytes: Uint8Array, accept: readonly string[]): Promise<string> => {
  const names = await typesOfBytes(bytes)
  const type = names.find(one => accepts(accept, one)) ?? String(names[0])
  checkType(type, { accept })
  return type
}

const endings: Readonly<Record<string, string>> = { jpeg: 'jpg', plain: 'txt', 'svg+xml': 'svg' }

/** The name that a file is kept under: one without an ending gets that of its type. */
export const namedBy = (name: string, type: string): string => {
  const kind = type.slice(type.indexOf('/') + 1)
  const ending = own(endings, kind) ?? (/^[a-z0-9]{2,5}$/.test(kind) ? kind : undefined)
  return safeName(ending === undefined || name.includes('.') ? name : `${name}.${ending}`)
}

/**
 * Takes a file into the store. By its first bytes it is refused with 415 if it is not what it is said to be, or nothing that is taken;
 * `check` throws for too many bytes. `arriving` is told of it before its bytes have their place.
 */
export const takeFile = async (
  store: FileStore,
  { stream, name, type: declared, from }: Incoming,
  taken: TakenFiles,
  check: (bytes: number) => void,
  arriving: (file: StoredFile) => Promise<void>,
): Promise<void> => {
  const { exif, field } = taken
  let type = ''
  let size: Pixels | undefined
  await store.put(stream, {
    check,
    begins: async head => {
      type = await typeOf(head, name ?? '', declared)
      checkType(type, taken)
      if (exif !== 'kept' && isUncleanable(type)) {
        const message = `must be a picture out of which place and camera can be taken, such as a JPEG, and is ${type}`
        throw misfit(taken, 'UNSUPPORTED_MEDIA_TYPE', message)
      }
    },
    through: async path => {
      if (exif === 'kept' || !isCleaned(type)) return false
      const { isChanged, ...pixels } = await cleaned(type, path, from)
      size = pixels
      return isChanged
    },
    arriving: async (digest, bytes, path) => {
      const shown = name ? safeName(name) : namedBy(field ?? 'file', type)
      const { width, height } = size ?? (await pictureSize(type, path))
      await arriving({ digest, name: shown, type, bytes, width, height })
    },
  })
}
