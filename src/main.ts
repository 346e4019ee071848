/** The `duet` command line: finds the command, runs it, and tells what went wrong in one line. */
import { backup } from '#cli/backup.ts'
import { exportRows } from '#cli/export.ts'
import { importRows } from '#cli/import.ts'
import { migrate } from '#cli/migrate.ts'
import { move } from '#cli/move.ts'
import { restore } from '#cli/restore.ts'
import { seed } from '#cli/seed.ts'
import { serve } from '#cli/serve.ts'
import { token } from '#cli/token.ts'
import { type CliCommand, UsageError } from '#cli/usage.ts'
import { version } from '#cli/version.ts'

const commands: readonly CliCommand[] = [
  serve,
  migrate,
  seed,
  token,
  importRows,
  exportRows,
  backup,
  restore,
  move,
]

const overview = `Usage: duet COMMAND [OPTIONS]

${commands.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join('\n')}

duet COMMAND --help tells more. Settings come from the environment: docs/settings.md.`

const isHelp = (argument: string | undefined) =>
  argument === '--help' || argument === '-h' || argument === 'help'

const run = async ([name, ...args]: readonly string[]): Promise<void> => {
  if (name === '--version' || name === '-v') return void process.stdout.write(`duet ${version}\n`)
  if (name === undefined || isHelp(name)) {
    process.stdout.write(`${overview}\n`)
    if (name === undefined) process.exitCode = 2
    return
  }
  const command = commands.find(command => command.name === name)
  if (!command) throw new UsageError(`there is no command ${name}; duet --help lists them`)
  if (args.some(isHelp)) return void process.stdout.write(`${command.help}\n`)
  try {
    await command.run(args)
  } catch (error) {
    if (error instanceof UsageError)
      throw new UsageError(`${error.message} (duet ${name} --help tells more)`)
    throw error
  }
}

type Trouble = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string }

const elsewhere = 'name another place in DUET_DATABASE_URL, or give this user the right to it'

/** What the system's own words leave out: the thing it is about, and what to do. */
const remedies: Readonly<Record<string, (trouble: Trouble) => string>> = {
  EADDRINUSE: ({ port }) =>
    `port ${port} is in use already; set DUET_PORT to another, or to 0 for a free one`,
  EADDRNOTAVAIL: ({ address }) => `this machine has no address ${address}; set DUET_HOST to one`,
  ENOENT: ({ path }) => `there is no such file: ${path}`,
  ENOTDIR: ({ path }) => `${path} cannot be made, a file is in the way; ${elsewhere}`,
  EROFS: ({ path }) => `${path} is on a disk that cannot be written; ${elsewhere}`,
  EACCES: ({ path, port }) =>
    path === undefined
      ? `this user may not listen on port ${port}; set DUET_PORT to one above 1023`
      : `${path} is closed to this user; ${elsewhere}`,
}

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const remedy = remedies[String((error as Trouble).code)]
  return remedy ? remedy(error) : error.message
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  for (const line of explain(error).split('\n')) process.stderr.write(`duet: ${line}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
  // A worker thread or a listening server must not keep a failed command alive.
  if (process.exitCode !== undefined) process.exit()
}
