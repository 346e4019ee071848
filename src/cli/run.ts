/** The `duet` command line: finds the command, runs it, and reports what went wrong in one line. */
import { own } from '#base/object.ts'
import { UsageError, unknownWord } from '#cli/arguments.ts'
import { type KitCommand, kitCommands } from '#cli/kit.ts'
import { endUnlessHandled, endWithout, explain } from '#cli/terminal.ts'
import { documents, loadConfig, version } from '#config.ts'
import { type Content, type ListedCommand, modelOf } from '#content.ts'

/** Each is loaded when it is called: loading the others would take half of a short command's time. */
const commands: Readonly<Record<string, ListedCommand>> = {
  serve: { about: 'serve both APIs', load: () => import('#cli/serve.ts') },
  migrate: { about: 'bring the store up to date', load: () => import('#cli/migrate.ts') },
  seed: { about: 'fill an empty store with made-up content', load: () => import('#cli/seed.ts') },
  schema: {
    about: 'print the schema of the GraphQL API',
    load: async () => (await import('#cli/documents.ts')).schema,
  },
  openapi: {
    about: 'print the OpenAPI document of the REST API',
    load: async () => (await import('#cli/documents.ts')).openapi,
  },
  token: { about: 'make a token', load: () => import('#cli/token.ts') },
  import: { about: 'read rows from NDJSON or CSV', load: () => import('#cli/import.ts') },
  export: { about: 'write rows as NDJSON or CSV', load: () => import('#cli/export.ts') },
  backup: { about: 'copy the store while it is served', load: () => import('#cli/backup.ts') },
  restore: {
    about: 'put a backup in the place of the store',
    load: () => import('#cli/restore.ts'),
  },
  files: { about: 'look for the bytes of files', load: () => import('#cli/files.ts') },
  move: { about: 'move a SQLite store into PostgreSQL', load: () => import('#cli/move.ts') },
}

/** That of a content whose people sign in. */
const ofPeople: typeof commands = {
  people: { about: 'add people, and have them signed in', load: () => import('#cli/people.ts') },
}

/** Throws what stops the start of a content, whichever command it is loaded for, so that none takes what no service serves. */
const checkContent = async (content: Content, command: string): Promise<void> => {
  await content.served()
  // It derives the schema once it listens, so that it listens sooner.
  if (command === 'serve') return
  const { deriveSchema } = await import('#graphql/schema.ts')
  const usual = content.decide(loadConfig({}, content.settings).content)
  deriveSchema(modelOf(content, usual), content.actions)
}

const isHelp = (argument: string | undefined) =>
  argument === '--help' || argument === '-h' || argument === 'help'

const dispatch = async (
  content: Content | undefined,
  [name, ...args]: readonly string[],
  file: string | undefined,
): Promise<void> => {
  const machine: Readonly<Record<string, KitCommand>> = { ...commands, ...(await kitCommands()) }
  const twice = Object.keys(content?.commands ?? {}).find(
    name => name === 'people' || Object.hasOwn(machine, name),
  )
  if (twice !== undefined)
    throw new Error(`the command ${twice} of the content is there already: give it another name`)
  const all: typeof machine = { ...machine, ...(content?.people && ofPeople), ...content?.commands }
  const listed = Object.entries(all).filter(([, { isHidden }]) => !isHidden)
  if (name === undefined || isHelp(name)) {
    const list = listed.map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
    process.stdout.write(`Usage: duet COMMAND [OPTIONS]

${list.join('\n')}

duet help COMMAND tells more. The documents are in ${documents}/: settings, which
come from the environment, in settings.md. The content is the duet.config.ts of this folder,
or that of --config FILE.
`)
    if (name === undefined) process.exitCode = 2
    return
  }
  if (name.startsWith('-'))
    throw new UsageError(`there is no ${name} before the command: duet --help lists the commands`)
  const found = own(all, name)
  const names = listed.map(([name]) => name)
  if (!found) throw unknownWord('command', name, names, '; duet --help lists them')
  if (content === undefined && file === undefined && name !== 'init')
    throw new Error(
      `there is no duet.config.ts in ${process.cwd()}: go to the folder of a content, name its file with --config FILE, or make one with duet init`,
    )
  const { help, run } = await found.load()
  if (typeof run !== 'function' || help === undefined)
    throw new Error(`the command ${name} lacks run or help: let its module export both`)
  // A command that needs no content does not look at it.
  const given = content as Content
  // A later `help` may be a value: --name help.
  if (isHelp(args[0]) || args.includes('--help') || args.includes('-h')) {
    const text = typeof help === 'string' ? help : await help(given)
    return void process.stdout.write(`${text}\n`)
  }
  if (content !== undefined) await checkContent(content, name)
  try {
    await run(args, given, file)
  } catch (error) {
    if (error instanceof UsageError)
      throw new UsageError(`${error.message} (duet ${name} --help tells more)`)
    throw error
  }
}

/**
 * Runs a command of the command line for a content, or without one where none was found; a failure is reported in one line, and
 * sets the exit code.
 */
export const runCommand = async (
  load: (() => Promise<Content>) | undefined,
  given: readonly string[],
  file?: string,
): Promise<void> => {
  const argv = isHelp(given[0]) && given[1] !== undefined ? [given[1], '--help'] : given
  endUnlessHandled()
  endWithout(process.stdout)
  if (argv[0] === '--version' || argv[0] === '-v')
    return void process.stdout.write(`duet ${version}\n`)
  // A content that is wrong is a fault of the program, which `bin/duet` reports.
  const needsNone = own(await kitCommands(), argv[0] ?? '')?.needsNoContent === true
  const content = needsNone ? undefined : await load?.()
  try {
    await dispatch(content, argv, file)
  } catch (error) {
    for (const line of explain(error).split('\n')) process.stderr.write(`duet: ${line}\n`)
    process.exitCode = error instanceof UsageError ? 2 : 1
    // A worker thread or a listening server must not keep a failed command alive.
    process.exit()
  }
}
