/** Runs a command for an API: the write, and after its commit the effect. */
import type { Model } from '#model/model.ts'
import type { Command } from '#write/command.ts'
import type { Writer } from '#write/job.ts'
import type { Services } from '#write/services.ts'
import { type Done, type Occasion, type Reading, write } from '#write/write.ts'

/** The parts of the service that commands need. */
type Target = { readonly writer: Writer; readonly model: Model; readonly services: Services }

/** Runs the command as `write` does, then its effect; a replay has no effect. */
export const commit = async (
  { writer, model, services }: Target,
  command: Command,
  reading: Reading | null,
  occasion?: Occasion,
): Promise<Done> => {
  const done = await write(writer, model, command, reading, occasion)
  if (!done.replayed) command.effect?.(done.rows, services)
  return done
}
