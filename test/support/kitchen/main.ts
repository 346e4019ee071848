/** The program with the kitchen in place of the content. */
import { runCommand } from '#cli/run.ts'
import { kitchen } from './index.ts'

await runCommand(async () => kitchen, process.argv.slice(2))
