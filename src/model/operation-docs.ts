/** What an operation that the model does not derive says of itself for the documents of the API. */

import { keys, must, type Shape } from '#base/shape.ts'

/** A JSON Schema, draft 2020-12; `#/components/schemas/…` refers to schemas of the model. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A body of some media type, with a value that shows it. */
export type MediaType = { readonly schema: JsonSchema; readonly example?: unknown }

export type OperationDocs = {
  /** Its name in clients: a verb and its object, unique among all operations. */
  readonly operationId: string
  /** A few words in the imperative, without a full stop. */
  readonly summary: string
  readonly description?: string
  /** The query parameters that it takes, each with what it does. */
  readonly parameters?: Readonly<
    Record<string, { readonly schema: JsonSchema; readonly description: string }>
  >
  /** The bodies it takes by media type; without it, none. */
  readonly body?: Readonly<Record<string, MediaType>>
  /** Whether the body may be left out. */
  readonly isBodyOptional?: boolean
  /** What each status of success means; 200 or, for an empty answer, 204 unless given. */
  readonly success?: Readonly<Record<number, string>>
  /** The forms of its answer by media type, if it does not answer with an entity; the versions' own types go with JSON. */
  readonly forms?: Readonly<Record<string, MediaType>>
  /** The codes of errors that only it answers with, beside those of every operation of its kind. */
  readonly errors?: readonly string[]
}

const mediaShape: Shape = {
  named: keys<MediaType>({ schema: must('anything'), example: 'anything' }),
}

export const operationDocsShape = keys<OperationDocs>({
  operationId: must('text'),
  summary: must('text'),
  description: 'text',
  parameters: {
    named: keys<NonNullable<OperationDocs['parameters']>[string]>({
      schema: must('anything'),
      description: must('text'),
    }),
  },
  body: mediaShape,
  isBodyOptional: 'flag',
  success: { named: 'text' },
  forms: mediaShape,
  errors: { each: 'text' },
})
