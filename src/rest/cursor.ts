/** Cursors: the id of the last item, signed for one list, so that none is forged or used for another list. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseId } from '#model/values.ts'

const sealSize = 12

const seal = (key: Uint8Array, list: string, id: number): Buffer =>
  createHmac('sha256', key).update(`${list}\n${id}`).digest().subarray(0, sealSize)

/** The cursor after the item of that id in that list. */
export const encodeCursor = (key: Uint8Array, list: string, id: number): string =>
  Buffer.concat([seal(key, list, id), Buffer.from(String(id))]).toString('base64url')

/** The id in a cursor that was made for this list; undefined for any other text. */
export const decodeCursor = (key: Uint8Array, list: string, cursor: string): number | undefined => {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.toString('base64url') !== cursor || bytes.length <= sealSize) return undefined
  const id = parseId(bytes.subarray(sealSize).toString('latin1'))
  if (id === undefined) return undefined
  return timingSafeEqual(bytes.subarray(0, sealSize), seal(key, list, id)) ? id : undefined
}
