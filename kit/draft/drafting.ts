/** What a draft needs to know of an engine. */
import type { MadeObjects } from '#engines/shared/catalogue.ts'
import type { TableChange } from '#engines/shared/differences.ts'
import type { EngineName, Migration } from '#engines/shared/migrations.ts'
import type { Ddl } from '#engines/shared/schema.ts'

/** The statements that a store lacks: those that run inside one transaction, then those that run outside any. */
export type Lack = {
  readonly inside: readonly string[]
  readonly outside: readonly string[]
  /** Statements that fail where rows are in the way of what runs outside. */
  readonly guards?: readonly string[]
}

/** What an engine knows of its own DDL. */
export type Drafting = {
  readonly engine: EngineName
  /** What migrations make, upon what is there. */
  readonly madeBy: (migrations: readonly Migration[], base?: MadeObjects) => MadeObjects
  readonly ddl: Ddl
  /** The statements of a change to a table that is there, given what is made. */
  readonly change: (change: TableChange, made: MadeObjects) => Partial<Lack>
}
