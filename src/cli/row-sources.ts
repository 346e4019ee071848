/** Where the rows of a content come from on the command line: a demo, a generator, files of its own kinds. */
import type { FieldFault } from '#errors.ts'
import type { Model } from '#model/model.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Session } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { InputContext } from '#write/input.ts'

/** An open store, as commands work on it: a session, and how statements for it are written. */
export type OpenStore = { readonly session: Session; readonly dialect: Dialect }

/** An open store with the model of its content. */
export type ContentStore = OpenStore & { readonly model: Model }

/** A row of a file or of a demo, by member. */
export type InputRow = Readonly<Record<string, unknown>>

/** Rows by entity, with members as in an import. */
export type RowsByEntity = Readonly<Record<string, readonly InputRow[]>>

/** The number of rows of each kind, by the option's name. */
export type Sizes = Readonly<Record<string, number>>

/** The row of that number, counted from 0, by field. */
type RowAt = (index: number) => Readonly<Record<string, SqlValue>>

/** Puts so many rows of an entity in, with ids from 1. */
export type PutMany = (entity: string, count: number, rowAt: RowAt) => Promise<void>

/** The made-up rows of a content. */
export type Seed = {
  /** The kinds that are made, with their default numbers. */
  readonly sizes: Sizes
  /** A sentence about the rows, for the help. */
  readonly about: string
  /** A sentence that says why these sizes cannot be made; undefined where they can. */
  readonly check: (sizes: Sizes) => string | undefined
  readonly fill: (put: PutMany, sizes: Sizes) => Promise<void>
}

/** Puts a row in; gives its faults, and puts nothing in where there are any. */
export type PutRow = (row: InputRow) => Promise<readonly FieldFault[]>

/** A kind of rows that `import` reads and `export` writes. */
export type Kind = {
  /** The entity's name in the model. */
  readonly entity: string
  /** Fields that no API shows and that a round trip needs. */
  readonly also: readonly string[]
  /** Members of other programs' files: the one they stand for here, or null where they are left out. */
  readonly foreign: Readonly<Record<string, string | null>>
  /** Puts its rows in where they are more than rows of one table. */
  readonly rows?: (store: ContentStore, use: InputContext) => PutRow
  /** The members of its files, for the help. */
  readonly help?: string
}
