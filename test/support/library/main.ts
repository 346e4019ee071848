/** The program with the library in place of the content. */
import { runCommand } from '#cli/run.ts'
import { library } from './index.ts'

await runCommand(async () => library, process.argv.slice(2))
