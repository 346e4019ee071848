/** Documents that the operator stored, which requests name by an id (GraphQL over HTTP, appendix A: persisted documents). */
import { hash } from 'node:crypto'
import { clipped } from '#base/clipped.ts'
import { ApiError } from '#errors.ts'
import type { Document, ReadNew } from '#graphql/document.ts'
import type { Params } from '#graphql/params.ts'

/** A document that an operator stored: its text, the ids it is given, and where it is from. */
export type StoredDocument = {
  readonly from: string
  readonly text: string
  readonly ids: readonly string[]
}

/** The stored documents, and whether no others are served. */
export type Stored = { readonly documents: readonly StoredDocument[]; readonly only: boolean }

type Known = { readonly from: string; readonly digest: string; readonly document: Document }

type Read = (text: string, readNew?: ReadNew) => Document

const digestOf = (text: string): string => hash('sha256', text)

const faultOf = (from: string, error: unknown): string =>
  `DUET_DOCUMENTS: ${from} cannot be served: ${(error as Error).message}`

/** The stored documents by text and by id; throws a plain error with a sentence for each that is not valid, or whose id is another's. */
const index = (stored: readonly StoredDocument[], read: Read) => {
  const byText = new Map<string, Known>()
  const byId = new Map<string, Known>()
  const faults: string[] = []
  const add = (id: string, known: Known, from: string) => {
    const other = byId.getOrInsert(id, known)
    if (other.digest !== known.digest)
      faults.push(`DUET_DOCUMENTS: ${from} and ${other.from} differ and have one id, ${id}`)
  }
  for (const { from, text, ids } of stored) {
    try {
      const digest = digestOf(text)
      const known = byText.getOrInsertComputed(text, () => ({ from, digest, document: read(text) }))
      const own = `sha256:${digest}`
      const wrong = ids.find(id => id.startsWith('sha256:') && id !== own)
      if (wrong !== undefined) throw new Error(`its id must be ${own}, or have no such prefix`)
      for (const id of [own, digest, ...ids]) add(id, known, from)
    } catch (error) {
      faults.push(faultOf(from, error))
    }
  }
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return { byText, byId }
}

const notStored = (id: string, only: boolean): ApiError => {
  const name = clipped(id, 100)
  return new ApiError(
    'PERSISTED_QUERY_NOT_FOUND',
    only
      ? `Document ${name} not found: have the operator put it into the folder that DUET_DOCUMENTS names`
      : `Document ${name} not found: send its text as \`query\`, or have the operator put it into the folder that DUET_DOCUMENTS names`,
  )
}

/**
 * The documents of requests: stored ones, each also by the SHA-256 of its text, and those that `read` makes of a text. Throws a plain
 * error where a stored one has faults.
 */
export const documentsWith = ({ documents, only }: Stored, read: Read) => {
  const { byText, byId } = index(documents, read)
  return {
    /** The document of a request; throws its faults, and `PERSISTED_QUERY_NOT_FOUND` or `PERSISTED_QUERY_ONLY`. */
    find: ({ query, documentId }: Params, readNew: ReadNew): Document => {
      if (documentId !== undefined) {
        const known = byId.get(documentId)
        if (!known) throw notStored(documentId, only)
        return known.document
      }
      const known = byText.get(query)
      if (known) return known.document
      if (!only) return read(query, readNew)
      throw new ApiError(
        'PERSISTED_QUERY_ONLY',
        'Only stored documents are served here: have the operator put this one into the folder that DUET_DOCUMENTS names',
      )
    },
    /** The SHA-256 of its text in hexadecimal digits; empty where the id names none. */
    digest: ({ query, documentId }: Params): string =>
      documentId === undefined ? digestOf(query) : (byId.get(documentId)?.digest ?? ''),
  }
}

export type Documents = ReturnType<typeof documentsWith>
