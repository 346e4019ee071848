/** The program with the recipes in place of the content. */
import { runCommand } from '#cli/run.ts'

await runCommand(async () => (await import('./index.ts')).recipes, process.argv.slice(2))
