/** Documents that the operator stored, which requests name by an id (GraphQL over HTTP, appendix A: persisted documents). */
import { hash } from 'node:crypto'
import { clipped } from '#base/text.ts'
import { ApiError } from '#errors.ts'
import type { Document, ReadNew } from '#graphql/document.ts'
import type { Params } from '#graphql/over-http.ts'

/** A document that an operator stored: its text, the ids it is given, and where it is from. */
export type StoredDocument = {
  readonly from: string
  readonly text: string
  readonly ids: readonly string[]
}

/** The stored documents, and whether no others are served. */
export type StoredDocuments = {
  readonly documents: readonly StoredDocument[]
  readonly only: boolean
}

type ReadDocument = {
  readonly from: string
  readonly digest: string
  readonly document: Document
}

const digestOf = (text: string): string => hash('sha256', text)

/**
 * The documents of requests: stored ones, each also by the SHA-256 of its text, and those that `read` makes of a text. Throws a plain
 * error with a sentence for each stored one that is not valid, or whose id is another's.
 */
export const documentsWith = (
  { documents, only }: StoredDocuments,
  read: (text: string, readNew?: ReadNew) => Document,
) => {
  const byText = new Map<string, ReadDocument>()
  const byId = new Map<string, ReadDocument>()
  const faults: string[] = []
  for (const { from, text, ids } of documents) {
    try {
      const digest = digestOf(text)
      const known = byText.getOrInsertComputed(text, () => ({ from, digest, document: read(text) }))
      const own = `sha256:${digest}`
      const wrong = ids.find(id => id.startsWith('sha256:') && id !== own)
      if (wrong !== undefined) throw new Error(`its id must be ${own}, or have no such prefix`)
      for (const id of [own, digest, ...ids]) {
        const other = byId.getOrInsert(id, known)
        if (other.digest !== digest)
          faults.push(`DUET_DOCUMENTS: ${from} and ${other.from} differ and have one id, ${id}`)
      }
    } catch (error) {
      faults.push(`DUET_DOCUMENTS: ${from} cannot be served: ${(error as Error).message}`)
    }
  }
  if (faults.length > 0) throw new Error(faults.join('\n'))
  const intoFolder = 'into the folder that DUET_DOCUMENTS names'
  const unknown = (id: string, isPersistedQuery: boolean): ApiError => {
    const otherwise = only ? 'have' : 'send its text as `query`, or have'
    const message = `Document ${clipped(id, 100)} not found: ${otherwise} the operator put it ${intoFolder}`
    // Clients that are told that there are none send texts from then on, and not each query twice.
    const [code, phrase] =
      documents.length > 0
        ? (['PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound'] as const)
        : (['PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported'] as const)
    if (!isPersistedQuery) return new ApiError(code, message)
    const field = 'extensions.persistedQuery.sha256Hash'
    return new ApiError(code, phrase, { details: [{ field, message }] })
  }
  return {
    /** The document of a request; throws its faults, and `PERSISTED_QUERY_NOT_FOUND`, `PERSISTED_QUERY_NOT_SUPPORTED` or `PERSISTED_QUERY_ONLY`. */
    find: (params: Params, readNew: ReadNew): Document => {
      const { query, documentId } = params
      const known = documentId === undefined ? byText.get(query) : byId.get(documentId)
      if (known) return known.document
      if (documentId !== undefined) throw unknown(documentId, params.isPersistedQuery)
      if (!only) return read(query, readNew)
      throw new ApiError(
        'PERSISTED_QUERY_ONLY',
        `Only stored documents are served here: have the operator put this one ${intoFolder}`,
      )
    },
    /** The SHA-256 of its text in hexadecimal digits; empty if the id names none. */
    digest: ({ query, documentId }: Params): string =>
      documentId === undefined ? digestOf(query) : (byId.get(documentId)?.digest ?? ''),
  }
}

export type Documents = ReturnType<typeof documentsWith>
