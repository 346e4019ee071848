/** The program: the command line of Duet, for this content. */
import { runCommand } from '#cli/run.ts'

await runCommand(async () => (await import('#content/index.ts')).content, process.argv.slice(2))
