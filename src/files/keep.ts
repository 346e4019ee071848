/** Files on their way into the store: known to the database before they have their place, within the room that all together have. */
import { Readable } from 'node:stream'
import { retry } from '#base/retry.ts'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import { BeingRemoved, noteArrival } from '#files/garbage.ts'
import { pictureSize } from '#files/sizes.ts'
import { namedBy, typeAmong } from '#files/take.ts'
import { anonymous, type Viewer } from '#model/policy.ts'
import type { Services } from '#model/services.ts'
import { type StoredFile, storedText } from '#model/stored-file.ts'
import { sql } from '#sql/sql.ts'
import { inBytes } from '#write/claims.ts'
import { type CommandDraft, commandOf, type GuardedStep } from '#write/command.ts'
import { commit, type Done, type WriteContext } from '#write/write.ts'

/** The error for a file beyond the most bytes that all together may have. */
export const noRoom = (most: number): ApiError =>
  new ApiError(
    'STORAGE_FULL',
    `There is no room for this file: all files together may have ${inBytes(most)}; try a smaller one, or tell the operator`,
  )

type Keeping = Pick<Core, 'model' | 'writer' | 'dialect' | 'now'> & {
  readonly files?: Pick<NonNullable<Core['files']>, 'store' | 'most'> | undefined
}

/**
 * Notes a file whose bytes are about to get their place, from which on no collector of garbage takes them, and does these steps with it.
 * It waits some seconds where the same bytes are just being removed.
 */
export const noteFile = (
  { model, writer, dialect, files, now }: Keeping,
  viewer: Viewer,
  file: StoredFile,
  { steps, text }: Pick<CommandDraft, 'steps' | 'text'> = { steps: [], text: 'true' },
  context: WriteContext = {},
): Promise<Done> => {
  const { most = 0 } = files ?? {}
  const waiting = {
    ...{ wait: 5000, pause: 50, onWait: () => {} },
    passes: (error: unknown) => error instanceof BeingRemoved,
  }
  return retry(waiting, () => {
    const writing = { model, dialect, viewer, now: now() }
    // Bytes that are there already count like others: else it could be asked what the store has.
    const hasRoom =
      most === 0
        ? sql`true`
        : sql`(select coalesce(sum(bytes), 0) from files) + ${file.bytes} <= ${most}`
    const arrival: GuardedStep = {
      sql: noteArrival(dialect, file, writing.now, hasRoom),
      explain: sql`select 1 from files where digest = ${file.digest} and collect_at < 0`,
      refused: ([isRemoved]) => (isRemoved ? new BeingRemoved() : noRoom(most)),
    }
    // Else several who come at once would each find the room that is left.
    const all = [...(most > 0 ? [{ sql: dialect.oneByOne }] : []), arrival, ...steps]
    const command = commandOf(writing, { name: 'keep a file', steps: all, text })
    return commit({ model, writer, wakeOutbox: () => {} }, command, null, context)
  })
}

/** What keeps the files that a service makes itself; it throws where no entity has a file. */
export const keeping =
  (core: Keeping): Services['keepFile'] =>
  async ({ bytes, type: told, name }) => {
    const { files } = core
    if (!files) throw new Error('no field is a file(): give an entity one, and keep files for it')
    const type = typeof told === 'string' ? told : await typeAmong(bytes, told)
    let kept = ''
    await files.store.put(Readable.from([bytes]), {
      arriving: async (digest, length, path) => {
        const size = await pictureSize(type, path)
        const file = { digest, name: namedBy(name, type), type, bytes: length, ...size }
        await noteFile(core, anonymous, file)
        kept = storedText(file)
      },
    })
    return kept
  }
