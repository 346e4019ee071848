/** The width and height of a picture, as its first bytes say them. */
import { open } from 'node:fs/promises'
import { own } from '#base/object.ts'

/** How many of the first bytes are looked at: a JPEG may have a small picture and what a camera wrote before its size. */
const headBytes = 131_072

export type Pixels = { readonly width: number; readonly height: number }

const ofJpeg = (head: DataView): Pixels | undefined => {
  // Segments follow one another, each with its length; those from C0 to CF, but for three, have the size.
  for (let at = 2; at + 9 < head.byteLength; ) {
    if (head.getUint8(at) !== 0xff) return undefined
    const marker = head.getUint8(at + 1)
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: head.getUint16(at + 5), width: head.getUint16(at + 7) }
    at += marker === 0xff ? 1 : 2 + head.getUint16(at + 2)
  }
  return undefined
}

const ofWebp = (head: DataView): Pixels | undefined => {
  const three = (at: number) => head.getUint16(at, true) + head.getUint8(at + 2) * 65_536
  switch (head.getUint8(15)) {
    // `VP8X`, `VP8L` and `VP8 `.
    case 0x58:
      return { width: three(24) + 1, height: three(27) + 1 }
    case 0x4c: {
      const bits = head.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
    }
    default:
      return {
        width: head.getUint16(26, true) & 0x3fff,
        height: head.getUint16(28, true) & 0x3fff,
      }
  }
}

const readers: Readonly<Record<string, (head: DataView) => Pixels | undefined>> = {
  'image/png': head => ({ width: head.getUint32(16), height: head.getUint32(20) }),
  'image/gif': head => ({ width: head.getUint16(6, true), height: head.getUint16(8, true) }),
  'image/webp': ofWebp,
  'image/jpeg': ofJpeg,
}

/** The size in pixels of the picture at a path; nulls for another file, and where its first bytes do not say it. */
export const pictureSize = async (
  type: string,
  path: string,
): Promise<Pixels | { readonly width: null; readonly height: null }> => {
  const unknown = { width: null, height: null }
  const sizeIn = own(readers, type)
  if (!sizeIn) return unknown
  await using handle = await open(path)
  const { bytesRead, buffer } = await handle.read(new Uint8Array(headBytes))
  try {
    return sizeIn(new DataView(buffer.buffer, 0, bytesRead)) ?? unknown
  } catch (error) {
    // It ends before its size.
    if (!(error instanceof RangeError)) throw error
    return unknown
  }
}
