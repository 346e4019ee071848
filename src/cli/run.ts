/** The `duet` command line: finds the command, runs it, and tells what went wrong in one line. */
import { type CliCommand, UsageError } from '#cli/usage.ts'
import { version } from '#cli/version.ts'
import type { Content } from '#content.ts'

type Listed = {
  /** One line for the list of commands. */
  readonly about: string
  readonly load: () => Promise<CliCommand>
}

/** Each is loaded when it is asked for: what the others need would be half of a short command's time. */
const commands: Readonly<Record<string, Listed>> = {
  serve: {
    about: 'serve both APIs',
    load: async () => (await import('#cli/serve.ts')).serve,
  },
  migrate: {
    about: 'bring the store up to date',
    load: async () => (await import('#cli/migrate.ts')).migrate,
  },
  seed: {
    about: 'fill an empty store with made-up content',
    load: async () => (await import('#cli/seed.ts')).seed,
  },
  token: {
    about: 'mint a token',
    load: async () => (await import('#cli/token.ts')).token,
  },
  import: {
    about: 'read rows from NDJSON or CSV',
    load: async () => (await import('#cli/import.ts')).importRows,
  },
  export: {
    about: 'write rows as NDJSON or CSV',
    load: async () => (await import('#cli/export.ts')).exportRows,
  },
  backup: {
    about: 'copy the store while it is served',
    load: async () => (await import('#cli/backup.ts')).backup,
  },
  restore: {
    about: 'put a backup in the place of the store',
    load: async () => (await import('#cli/restore.ts')).restore,
  },
  move: {
    about: 'move a SQLite store into PostgreSQL',
    load: async () => (await import('#cli/move.ts')).move,
  },
}

const overview = `Usage: duet COMMAND [OPTIONS]

${Object.entries(commands)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}

duet COMMAND --help tells more. Settings come from the environment: docs/settings.md.`

const isHelp = (argument: string | undefined) =>
  argument === '--help' || argument === '-h' || argument === 'help'

const dispatch = async (content: Content, [name, ...args]: readonly string[]): Promise<void> => {
  if (name === '--version' || name === '-v') return void process.stdout.write(`duet ${version}\n`)
  if (name === undefined || isHelp(name)) {
    process.stdout.write(`${overview}\n`)
    if (name === undefined) process.exitCode = 2
    return
  }
  const listed = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!listed) throw new UsageError(`there is no command ${name}; duet --help lists them`)
  const command = await listed.load()
  const { help } = command
  if (args.some(isHelp)) {
    const text = typeof help === 'string' ? help : await help(content)
    return void process.stdout.write(`${text}\n`)
  }
  try {
    await command.run(args, content)
  } catch (error) {
    if (error instanceof UsageError)
      throw new UsageError(`${error.message} (duet ${name} --help tells more)`)
    throw error
  }
}

type SystemError = NodeJS.ErrnoException & { readonly port?: number; readonly address?: string }

const elsewhere = 'name another place in DUET_DATABASE_URL, or give this user the right to it'

/** What the system's own words leave out: the thing it is about, and what to do. */
const remedies: Readonly<Record<string, (error: SystemError) => string>> = {
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
  const remedy = remedies[String((error as SystemError).code)]
  return remedy ? remedy(error) : error.message
}

/** Runs a command of the command line for a content; a failure is told in one line, and sets the exit code. */
export const runCommand = async (content: Content, argv: readonly string[]): Promise<void> => {
  try {
    await dispatch(content, argv)
  } catch (error) {
    for (const line of explain(error).split('\n')) process.stderr.write(`duet: ${line}\n`)
    process.exitCode = error instanceof UsageError ? 2 : 1
    // A worker thread or a listening server must not keep a failed command alive.
    process.exit()
  }
}
