/** Finds the commands of authors' tools, which are in `kit/`, as a content is found: by the address of a file that nothing here imports. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { once } from '#base/cache.ts'
import type { ListedCommand } from '#content.ts'

/** A command of the kit. */
export type KitCommand = ListedCommand & {
  /** It runs in any folder, or whatever is wrong with the content. */
  readonly needsNoContent?: true
  /** Other commands call it, and nobody types it. */
  readonly isHidden?: true
}

const file = new URL('../../kit/commands.ts', import.meta.url)

/** The commands of the kit by their names; none where only the server is installed. */
export const kitCommands = once(
  async (): Promise<Readonly<Record<string, KitCommand>>> =>
    existsSync(fileURLToPath(file)) ? (await import(file.href)).commands : {},
)
