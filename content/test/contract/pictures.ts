/** Pictures that a service is sent. */

export type Bytes = Uint8Array<ArrayBuffer>

export const latin = (text: string): Bytes => new Uint8Array(Buffer.from(text, 'latin1'))
export const joined = (...parts: readonly Uint8Array[]): Bytes =>
  new Uint8Array(Buffer.concat(parts))

/** A real picture of one dot. */
export const png = new Uint8Array(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
)
export const gif = new Uint8Array(
  Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
)
export const webp = new Uint8Array(
  Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64'),
)
export const jpeg = joined(
  latin('\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9'),
)
export const hugePng = joined(
  latin('\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x4e\x20\x00\x00\x4e\x20\x08\x06\x00\x00\x00'),
  png.subarray(29),
)
