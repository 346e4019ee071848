/** What a document is made of: the model with everything that stands beside it. */
import { loadConfig } from '#config.ts'
import { type Content, modelOf } from '#content.ts'
import { type ErrorKind, machineErrors, mergeErrors } from '#errors.ts'
import type { Model } from '#model/model.ts'
import type { Version } from '#model/version.ts'
import type { ExtraRoute } from '#rest/rest.ts'
import { styleOf, type VersionStyle } from '#versions/differences.ts'
import type { Action } from '#write/action.ts'

/** Rows by entity, with members as in an import. */
export type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

export type Parts = {
  readonly model: Model
  readonly version: Version
  readonly style: VersionStyle
  readonly actions: readonly Action[]
  readonly extras: readonly ExtraRoute[]
  readonly errors: ReadonlyMap<string, ErrorKind>
  /** The rows from which examples are made. */
  readonly rows: Rows
  /** The rows of inputs, for entities where another row than the first is to be sent. */
  readonly inputs: Readonly<Record<string, Rows[string][number]>>
}

/** The model of a content whose settings are all as they are unless set. */
const usualModel = (content: Content): Model =>
  modelOf(content, content.decide(loadConfig({}, content.settings).content))

/** The parts of a content's document for a version. */
export const partsOf = async (
  content: Content,
  version: Version,
  model: Model = usualModel(content),
): Promise<Parts> => ({
  model,
  version,
  style: styleOf(version),
  actions: content.actions,
  extras: (await content.served()).routes,
  errors: mergeErrors(machineErrors, content.errors),
  rows: { ...content.examples.rows, ...(await content.demo?.()) },
  inputs: content.examples.inputs ?? {},
})
