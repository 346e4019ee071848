/** A command done by a voice: written, and what is to follow from it begun once it is kept. */
import type { Command } from '#write/command.ts'
import type { Core } from '#write/core.ts'
import type { Once } from '#write/job.ts'
import { type Done, type Reading, write } from '#write/write.ts'

/** Runs the command as `write` does. Whoever it found to be asked for a proof is asked afterwards; a replay asks nobody. */
export const commit = async (
  core: Core,
  command: Command,
  reading: Reading | null,
  once?: Once,
): Promise<Done> => {
  const done = await write(core.writer, core.model, command, reading, once)
  const found = command.asks === undefined ? undefined : done.rows[command.asks]?.[0]
  if (found) {
    const [id, name, email] = found
    core.proofs.invite({ id: Number(id), name: String(name), email: String(email) })
  }
  return done
}
