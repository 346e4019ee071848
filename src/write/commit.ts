/** A command done by a voice: written, and what is to follow from it begun once it is kept. */
import type { Model } from '#model/model.ts'
import type { Command } from '#write/command.ts'
import type { Once, Writer } from '#write/job.ts'
import type { Proofs } from '#write/proof.ts'
import { type Done, type Reading, write } from '#write/write.ts'

/** Runs the command as `write` does. Whoever it found to be asked for a proof is asked afterwards; a replay asks nobody. */
export const commit = async (
  { writer, model, proofs }: { writer: Writer; model: Model; proofs: Proofs },
  command: Command,
  reading: Reading | null,
  once?: Once,
): Promise<Done> => {
  const done = await write(writer, model, command, reading, once)
  const found = command.asks === undefined ? undefined : done.rows[command.asks]?.[0]
  if (found) {
    const [id, name, email] = found
    proofs.invite({ id: Number(id), name: String(name), email: String(email) })
  }
  return done
}
