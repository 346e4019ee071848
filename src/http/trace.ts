/** The trace of a caller, from the header `traceparent` (W3C Trace Context, level 1, section 3.2). */
import { randomBytes } from 'node:crypto'
import type { Trace } from '#observe.ts'

/** A later version than 00 may have further parts behind a hyphen; ff is no version. */
const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** The trace that the header names, with a new span for the request; undefined where it is absent or malformed. */
export const traceOf = (traceparent: string | undefined): Trace | undefined => {
  if (traceparent === undefined) return undefined
  const [, version, traceId, parentId, flags, more] = form.exec(traceparent) ?? []
  if (traceId === undefined || parentId === undefined || flags === undefined) return undefined
  if (version === '00' && more !== undefined) return undefined
  return { traceId, parentId, spanId: randomBytes(8).toString('hex'), flags }
}

/** The header for calls to others, whose parent is the request's own span. */
export const traceparentOf = ({ traceId, spanId, flags }: Trace): string =>
  `00-${traceId}-${spanId}-${flags}`
