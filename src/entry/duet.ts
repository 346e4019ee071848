/** `duet`: a content as one value. What this file lists is promised; all else of the package is closed. */

export {
  type CliCommand,
  type Content,
  type ContentStore,
  defineContent,
  type InputRow,
  type ListedCommand,
  type PutMany,
  type PutRow,
  type RowsByEntity,
  type Seed,
  type Served,
  type TransferKind,
} from '#content.ts'

// The model, and the versions of its REST API.
export { defineModel } from '#model/model.ts'
export { defineVersions, type Versions } from '#model/version.ts'
export type { Viewers } from '#model/viewers.ts'

// Pages.
export type { Examples } from '#pages/start.ts'

// Settings of a content's own.
export {
  ConfigError,
  listOf,
  oneOf,
  onOff,
  type SettingTable,
  setting,
  textWhere,
  type ValuesOf,
  whole,
} from '#settings.ts'
