/** The options of a PostgreSQL store. */
import type { Migration } from '#engines/migrations.ts'
import type { Serving } from '#engines/store.ts'

export type PostgresOptions = {
  readonly url: string
  /** The addresses of its replicas. */
  readonly replicas: readonly string[]
  /** Whether statements are prepared by name. */
  readonly prepare: boolean
  /** Connections that quick reads share, to it and to each replica. */
  readonly readers: number
  /** Connections for writes and for long reads. */
  readonly pool: number
  /** All that it is made by, in order. */
  readonly migrations: readonly Migration[]
}

export type PostgresServing = PostgresOptions & Serving
