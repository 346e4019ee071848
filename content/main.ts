/** The program: the command line of Duet, for this content. */

import { runCommand } from '#cli/run.ts'
import { content } from '#content/index.ts'

await runCommand(content, process.argv.slice(2))
