/** `duet`: a content as one value, its settings and versions. What the files of this folder list is promised, all else is closed. */
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
export { defineModel } from '#model/model.ts'
export { defineVersions, type Versions } from '#model/version.ts'
export type { Viewers } from '#model/viewers.ts'
export type { Examples } from '#pages/start.ts'
// Settings of a content's own: what a value must be, and what is said of a wrong one.
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
