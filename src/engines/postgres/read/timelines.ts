/** The timelines of a cluster: each promotion of a standby begins one, where it had come to in the log of the one before. */
import { lsnOf, type Place, timelineOf } from '#engines/postgres/read/position.ts'
import { type Query, queryWith, type Rows } from '#sql/engine.ts'

type Ask = (query: Query) => Promise<Rows>

const system = 'select system_identifier::text from pg_control_system()'

// Until it is started again, a promoted server says how far it had come.
const here = queryWith(
  `select pg_walfile_name(l), l::text, pg_last_wal_replay_lsn()::text, (${system}) from pg_current_wal_lsn() as l`,
)

const list = `select timeline, began from timelines where system = $1`

const add = `insert into timelines (system, timeline, began) values ($1, $2, $3) on conflict do nothing`

/** The query that tells how far a replica has replayed, and the newest timeline that it shows. */
export const replayed = queryWith(
  `select pg_last_wal_replay_lsn()::text, (select max(timeline) from timelines where system = (${system}))`,
)

/** What became of the write of a position: the primary's log has it, was cut off before it, or nobody knows. */
export type Standing = 'held' | 'lost' | 'unknown'

/** Where each timeline began; null where nobody knows. */
type Beginnings = ReadonlyMap<number, bigint | null>

/** What became of a place, seen from the timeline `current`. */
export const standingOf = (
  { timeline, lsn }: Place,
  current: number | undefined,
  beginnings: Beginnings,
): Standing => {
  if (timeline === undefined || timeline === current) return 'held'
  if (current === undefined || timeline > current) return 'unknown'
  const later = [...beginnings].flatMap(([number, began]) => (number > timeline ? [began] : []))
  if (later.some(began => began !== null && lsn > began)) return 'lost'
  return later.length === 0 || later.includes(null) ? 'unknown' : 'held'
}

export type Timelines = {
  /** The primary's; undefined until it was first asked. */
  readonly current: () => number | undefined
  readonly standing: (place: Place) => Standing
  /** Asks the primary; gives the LSN that it has come to. */
  readonly refresh: () => Promise<bigint>
}

/** The timelines as the store records them. `ask` reads from the primary, and `write` writes there. */
export const createTimelines = (ask: Ask, write: Ask, onChange: () => void): Timelines => {
  let current: number | undefined
  let beginnings: Beginnings = new Map()
  const read = async (system: string): Promise<Beginnings> => {
    const rows = await ask(queryWith(list, system))
    return new Map(
      rows.map(([number, began]) => [Number(number), began == null ? null : lsnOf(began)]),
    )
  }
  /** Learns a timeline that is new to this process, and records one that is new to the store. */
  const learn = async (timeline: number, began: string | null, system: string) => {
    let known = await read(system)
    if (!known.has(timeline)) {
      await write(queryWith(add, system, timeline, began))
      known = await read(system)
    }
    beginnings = known
    current = timeline
    onChange()
  }
  return {
    current: () => current,
    standing: place => standingOf(place, current, beginnings),
    refresh: async () => {
      const [row = []] = await ask(here)
      const [file, lsn, began, system] = row
      const timeline = timelineOf(file)
      if (timeline !== current)
        await learn(timeline, began == null ? null : String(began), String(system))
      return lsnOf(lsn)
    },
  }
}
