/** Files on their way into the store: known to the database before they have their place, within the room that all together have. */
import { Readable } from 'node:stream'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import { BeingRemoved, isBeingRemoved, noteArrival, onceRemoved } from '#files/garbage.ts'
import { pictureSize } from '#files/picture.ts'
import { safeName } from '#files/type.ts'
import { anonymous } from '#model/policy.ts'
import type { Services } from '#model/services.ts'
import { type StoredFile, storedText } from '#model/stored-file.ts'
import type { Dialect } from '#sql/dialect.ts'
import { sql } from '#sql/sql.ts'
import { inBytes } from '#write/claims.ts'
import { commandOf, type GuardedStep } from '#write/command.ts'
import { commit } from '#write/write.ts'

/** The error for a file beyond the most bytes that all together may have. */
export const noRoom = (most: number): ApiError =>
  new ApiError(
    'STORAGE_FULL',
    `There is no room for this file: all files together may have ${inBytes(most)}; try a smaller one, or tell the operator`,
  )

/** The step that notes a file whose bytes are about to get their place, from which on no collector of garbage takes them; `most` are the bytes of all together, any number if it is 0. */
export const arrivalStep = (
  dialect: Dialect,
  { digest, bytes }: Pick<StoredFile, 'digest' | 'bytes'>,
  now: number,
  most: number,
): GuardedStep => {
  // Bytes that are there already count like others: else it could be asked what the store has.
  const hasRoom =
    most === 0 ? sql`true` : sql`(select coalesce(sum(bytes), 0) from files) + ${bytes} <= ${most}`
  return {
    sql: noteArrival(dialect, { digest, bytes }, now, hasRoom),
    explain: sql`select 1 where ${isBeingRemoved(digest)}`,
    refused: ([isRemoved]) => (isRemoved ? new BeingRemoved() : noRoom(most)),
  }
}

type Keeping = Pick<Core, 'model' | 'writer' | 'dialect' | 'now'> & {
  readonly files: Pick<NonNullable<Core['files']>, 'store' | 'most'> | undefined
}

/** What keeps the files that a service makes itself; it throws where no entity has a file. */
export const keeping =
  ({ model, writer, dialect, files, now }: Keeping): Services['keepFile'] =>
  async ({ bytes, type, name }) => {
    if (!files) throw new Error('no field is a file(): give an entity one, and keep files for it')
    let kept = ''
    await files.store.put(Readable.from([bytes]), {
      arriving: async (digest, length, path) => {
        const size = await pictureSize(type, path)
        const file = { digest, name: safeName(name), type, bytes: length, ...size }
        await onceRemoved(() => {
          const writing = { model, dialect, viewer: anonymous, now: now() }
          const steps = [arrivalStep(dialect, file, writing.now, files.most)]
          const command = commandOf(writing, { name: 'keep a file', steps, text: 'true' })
          return commit({ model, writer, wakeOutbox: () => {} }, command, null)
        })
        kept = storedText(file)
      },
    })
    return kept
  }
