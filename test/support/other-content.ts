/** A copy of the checkout with another content in the place of `content/`, as somebody has it who brings their own. */
import assert from 'node:assert/strict'
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyOfCheckout, inFolder, root } from './checkout-copy.ts'

/** Puts the library there, takes the service with its tests and its contract away, and makes the documents and the contract anew. */
export const copyWithLibrary = async (): Promise<string> => {
  const folder = copyOfCheckout()
  rmSync(join(folder, 'content'), { recursive: true })
  // The signatures there are the machine's.
  for (const file of readdirSync(join(folder, 'contract')))
    if (file !== 'package.d.ts') rmSync(join(folder, 'contract', file))
  cpSync(join(root, 'test/support/library'), join(folder, 'content'), { recursive: true })
  cpSync(join(root, 'content/tsconfig.json'), join(folder, 'content/tsconfig.json'))
  const door =
    "/** The library as the content of this copy. */\nexport { library as default } from './index.ts'\n"
  writeFileSync(join(folder, 'content/duet.config.ts'), door)
  await passes(folder, 'scripts/docs.mjs')
  await passes(folder, 'scripts/contract.mjs', '--write')
  return folder
}

/** Runs a program there, which must end well. */
export const passes = async (folder: string, ...args: readonly string[]): Promise<void> => {
  const { failed, stdout, stderr } = await inFolder(folder, {}, ...args)
  assert.equal(failed, false, `${args.join(' ')}\n${stdout.slice(-10_000)}${stderr.slice(-2000)}`)
}
