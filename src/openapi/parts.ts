/** What a document is made of: the model with everything that stands beside it. */
import { loadConfig } from '#config.ts'
import { type Content, modelOf } from '#content.ts'
import { type ErrorKind, machineErrors, mergeErrors } from '#errors.ts'
import type { Model } from '#model/model.ts'
import type { JsonSchema } from '#model/operation-docs.ts'
import type { Version, VersionStyle } from '#model/version.ts'
import type { RuledRoute } from '#rest/rest.ts'
import type { RuledAction } from '#write/steps/action.ts'

/** A row with members as in an import. */
type ExampleRow = Readonly<Record<string, unknown>>

export type DocumentParts = {
  readonly model: Model
  readonly version: Version
  readonly style: VersionStyle
  readonly actions: readonly RuledAction[]
  readonly extras: readonly RuledRoute[]
  readonly errors: ReadonlyMap<string, ErrorKind>
  /** The rows by entity that an empty development store is filled with, in the order of their ids. */
  readonly stored: Readonly<Record<string, readonly ExampleRow[]>>
  /** The rows by entity from which examples are made, those and some of the content's own. */
  readonly rows: Readonly<Record<string, readonly ExampleRow[]>>
  /** The rows of inputs, for entities whose first row is not the one to send. */
  readonly inputs: Readonly<Record<string, ExampleRow>>
  /** The responses that operations refer to by name, collected while these are made. */
  readonly shared: Map<string, JsonSchema>
  /** The response of an operation for a status and its codes, made once. */
  readonly refused: Map<string, JsonSchema>
}

/** The parts of a content's document for a version; the settings of its model are the usual ones unless it is given. */
export const partsOf = async (
  content: Content,
  version: Version,
  model: Model = modelOf(content, content.decide(loadConfig({}, content.settings).content)),
): Promise<DocumentParts> => {
  const stored = (await content.demo?.()) ?? {}
  return {
    model,
    version,
    style: model.versions.styleOf(version),
    actions: content.actions,
    extras: (await content.served()).routes,
    errors: mergeErrors(machineErrors, content.errors),
    stored,
    rows: { ...content.examples.rows, ...stored },
    inputs: content.examples.inputs ?? {},
    shared: new Map(),
    refused: new Map(),
  }
}
