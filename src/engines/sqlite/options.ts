/** The options of a SQLite store. */

import type { EngineOptions } from '#engines/shared/store.ts'
import type { Durability } from '#engines/sqlite/connection.ts'

export type SqliteFile = {
  readonly file: string
  readonly sync?: Durability
  /** Writes are refused below so many free bytes on the disk; 0 or absent: they go on until it is full. */
  readonly minDisk?: number
  /** How many threads slow reads have; each is started when it is first needed. One for each spare core unless it says otherwise. */
  readonly readers?: number | undefined
  /** Another program makes the checkpoints, up to so many bytes of the log; undefined: Duet makes them. */
  readonly sharedLog?: number | undefined
}

export type SqliteOptions = EngineOptions & SqliteFile
