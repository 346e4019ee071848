/** A command done for an API: written, and its effect begun once it is kept. */
import type { Command } from '#write/command.ts'
import type { Core } from '#write/core.ts'
import type { Once } from '#write/job.ts'
import { type Done, type Reading, write } from '#write/write.ts'

/** Runs the command as `write` does, then its effect; a replay has no effect. */
export const commit = async (
  core: Core,
  command: Command,
  reading: Reading | null,
  once?: Once,
): Promise<Done> => {
  const done = await write(core.writer, core.model, command, reading, once)
  if (!done.replayed) command.effect?.(done.rows, core.services)
  return done
}
