/**
 * The timelines of a store: each promotion of a standby begins one, where it had come to in the log of the one before; and so
 * does a move to another system, such as a major upgrade, which has a log of its own.
 */
import { earlierTimelines, timelineAt } from '#engines/postgres/primary.ts'
import { ApiError } from '#errors.ts'
import { type Position, type Query, queryWith, type Rows } from '#sql/engine.ts'

/** A position in the log of a cluster, parsed: a timeline and an LSN on it, such as `2-16/B374D848` (PostgreSQL manual, pg_lsn and section 26.3.6). */
export type LogPosition = {
  /** Undefined in a position of an older release. */
  readonly timeline: number | undefined
  readonly lsn: bigint
}

const form = /^(?:(\d{1,10})-)?([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i

/** A position as its timeline and its LSN; throws `MALFORMED_REQUEST` for any other text. */
export const logPositionOf = (position: Position): LogPosition => {
  const [, timeline, high, low] = form.exec(position) ?? []
  if (high === undefined || low === undefined)
    throw new ApiError(
      'MALFORMED_REQUEST',
      'Duet-Position must be as an earlier answer had it, such as 1-16/B374D848',
    )
  return {
    timeline: timeline === undefined ? undefined : Number(timeline),
    lsn: (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`),
  }
}

/** The LSN of a text of the server; 0 if it has none. */
export const lsnOf = (text: unknown): bigint =>
  text == null ? 0n : logPositionOf(String(text)).lsn

type Ask = (query: Query) => Promise<Rows>

const system = 'select system_identifier::text from pg_control_system()'

// Until it is started again, a promoted server says how far it had come.
const currentTimeline = queryWith(
  `select ${timelineAt('l')}, l::text, pg_last_wal_replay_lsn()::text, (${system}), ${earlierTimelines}
    from pg_current_wal_lsn() as l`,
)

const list = queryWith('select system, timeline, began from timelines order by timeline')

const add = `insert into timelines (system, timeline, began) values ($1, $2, $3) on conflict do nothing`

/** The query for how far a replica has replayed, and the newest timeline that it shows. */
export const replayed = queryWith(
  `select pg_last_wal_replay_lsn()::text, (select max(timeline) from timelines where system = (${system}))`,
)

/** What became of the write of a position: the primary's log has it, was cut off before it, or nobody knows. */
type PositionStatus = 'held' | 'lost' | 'unknown'

/** A timeline that the store has recorded; `began` is an LSN of the one before, and null if nobody knows. */
export type Timeline = {
  readonly system: string
  readonly number: number
  readonly began: bigint | null
}

/** Where the store is: the number of its timeline, its system, and the number of the last timeline of earlier ones. */
export type CurrentTimeline = {
  readonly number: number
  readonly system: string
  readonly earlier: number
}

/** What became of a position, by the timelines of the store in order. */
export const positionStatusOf = (
  { timeline, lsn }: LogPosition,
  current: CurrentTimeline | undefined,
  recorded: readonly Timeline[],
): PositionStatus => {
  if (timeline === undefined) return 'held'
  if (current === undefined || timeline > current.number) return 'unknown'
  const isOurs = ({ system, number }: Timeline) =>
    system === current.system || number <= current.earlier
  // Two systems count from 1 if nobody said which came first: a position may be on either.
  if (recorded.some(one => one.number === timeline && !isOurs(one))) return 'unknown'
  if (timeline === current.number) return 'held'
  // An LSN means something on the timelines after its own, up to the first of another system.
  const ours = recorded.filter(isOurs)
  const later = ours.filter(one => one.number > timeline)
  const { system } = ours.findLast(one => one.number <= timeline) ?? later[0] ?? {}
  const other = later.findIndex(one => one.system !== system)
  const counted = other < 0 ? later : later.slice(0, other + 1)
  if (counted.some(({ began }) => began !== null && lsn > began)) return 'lost'
  return counted.length === 0 || counted.some(({ began }) => began === null) ? 'unknown' : 'held'
}

/** The timelines as the store records them. `ask` reads from the primary, and `write` writes there. */
export const createTimelines = (ask: Ask, write: Ask, onChange: () => void) => {
  let known: CurrentTimeline | undefined
  let recorded: readonly Timeline[] = []
  const read = async (): Promise<readonly Timeline[]> =>
    (await ask(list)).map(([system, number, began]) => ({
      system: String(system),
      number: Number(number),
      began: began == null ? null : lsnOf(began),
    }))
  return {
    /** The primary's; undefined until it was first asked. */
    current: () => known?.number,
    positionStatus: (position: LogPosition) => positionStatusOf(position, known, recorded),
    /** Whether a position is in the log of an earlier system, which says nothing of how far the present one has come. */
    isEarlier: ({ timeline }: LogPosition) =>
      timeline !== undefined && timeline <= (known?.earlier ?? 0),
    /** Asks the primary; gives the LSN that it has come to. Records a timeline that is new to the store. */
    refresh: async (): Promise<bigint> => {
      const [row = []] = await ask(currentTimeline)
      const [lsn, began] = [lsnOf(row[1]), row[2] ?? null]
      const found = { number: Number(row[0]), system: String(row[3]), earlier: Number(row[4]) }
      if (found.number === known?.number && found.system === known.system) return lsn
      let all = await read()
      if (!all.some(({ system, number }) => system === found.system && number === found.number)) {
        await write(queryWith(add, found.system, found.number, began))
        all = await read()
      }
      recorded = all
      known = found
      onChange()
      return lsn
    },
  }
}

export type Timelines = ReturnType<typeof createTimelines>
