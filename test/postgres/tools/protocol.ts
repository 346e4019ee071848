/** The framing of PostgreSQL's protocol, as far as it takes to find the reply to a COMMIT. */

export type Replies = {
  /** Whole messages, as the server sent them. */
  readonly bytes: Buffer
  /** Where in them the first reply begins that says a transaction is committed. */
  readonly commitAt: number | undefined
}

const SSL_REQUEST = 80877103
const GSS_ENCRYPTION_REQUEST = 80877104
const refusal = 'N'.charCodeAt(0)
/** CommandComplete: its type, its length, and the name of the command. */
const committed = Buffer.from('C\0\0\0\x0bCOMMIT\0')

/** Follows one connection: `heard` takes the client's bytes, `replies` splits the server's. */
export const conversation = () => {
  let begun: Buffer = Buffer.alloc(0)
  let started = false
  let encrypted = false
  let awaited = 0 // replies of one byte, without type and length

  /** Until the session starts, messages have no type, and those about encryption odd replies. */
  const heard = (chunk: Buffer): void => {
    if (started) return
    begun = Buffer.concat([begun, chunk])
    while (!started && begun.length >= 8) {
      const code = begun.readInt32BE(4)
      started = code !== SSL_REQUEST && code !== GSS_ENCRYPTION_REQUEST
      if (!started) awaited++
      begun = begun.subarray(begun.readInt32BE(0))
    }
  }

  let rest: Buffer = Buffer.alloc(0)

  const replies = (chunk: Buffer): Replies => {
    const all = Buffer.concat([rest, chunk])
    let end = 0
    for (; awaited > 0 && end < all.length; end++) {
      awaited--
      encrypted = all[end] !== refusal
    }
    if (encrypted) return { bytes: all, commitAt: undefined }
    let commitAt: number | undefined
    while (end + 5 <= all.length) {
      const next = end + 1 + all.readInt32BE(end + 1)
      if (next > all.length) break
      if (all.subarray(end, next).equals(committed)) commitAt ??= end
      end = next
    }
    rest = all.subarray(end)
    return { bytes: all.subarray(0, end), commitAt }
  }
  return { heard, replies }
}
