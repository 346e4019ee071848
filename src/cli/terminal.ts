/** A command and who started it: progress on a terminal, errors as sentences, the signals that end it, and streams that nobody reads. */
import { dirname } from 'node:path'
import { Failure } from '#errors.ts'

const width = 28

/** Counts towards `total` (unknown: undefined) under a label, on standard error. */
export const progress = (label: string, total?: number) => {
  const isShown = process.stderr.isTTY === true
  let count = 0
  let shownAt = 0
  const draw = () => {
    const share = total ? count / total : 0
    const bar = total
      ? `[${'#'.repeat(Math.round(share * width)).padEnd(width, '.')}] ${Math.floor(share * 100)}%`
      : ''
    process.stderr.write(
      `\r${label} ${bar} ${count.toLocaleString('en')}${total ? ` of ${total.toLocaleString('en')}` : ''} `,
    )
  }
  return {
    step: (by = 1): void => {
      count += by
      if (!isShown || performance.now() - shownAt < 100) return
      shownAt = performance.now()
      draw()
    },
    done: (): void => {
      if (!isShown) return void process.stderr.write(`${label} ${count.toLocaleString('en')}\n`)
      draw()
      process.stderr.write('\n')
    },
  }
}

/** The lines of a table with aligned columns; numbers are to the right in the column that is named. */
export const aligned = (
  lines: readonly (readonly string[])[],
  numbers?: number,
): readonly string[] => {
  const widths = (lines[0] ?? []).map((_, at) =>
    Math.max(...lines.map(line => (line[at] ?? '').length)),
  )
  const cell = (text: string, at: number) =>
    at === numbers ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0)
  return lines.map(line => line.map(cell).join('  ').trimEnd())
}

type SystemError = NodeJS.ErrnoException & {
  readonly port?: number
  readonly address?: string
  readonly hostname?: string
  readonly dest?: string
  /** The result code of SQLite, which knows no path. */
  readonly errcode?: number
}

const unknownHost = ({ hostname }: SystemError) =>
  `no address of ${hostname} is known; set DUET_HOST, or DUET_METRICS_HOST if that names it, to a name or an address of this machine`

const fullDisk = ({ dest, path }: SystemError) =>
  `the disk of ${dest ?? path ?? 'the store, or of what is written,'} is full: make room there`

const noTemporary = ({ code, path = '' }: SystemError) =>
  `no folder can be made in ${dirname(path)} (${code}): set TMPDIR to one that this user may write`

const another = 'name another path, that of the store in DUET_DATABASE_URL'
const elsewhere = `${another}; or give this user the right to it`

/** What there is none of, by the call that says so; else a file. */
const lacking: Record<string, string> = { scandir: 'folder', mkdir: 'place for a folder' }

/** Messages for system errors, with the subject and the remedy that the system's own leave out. */
const remedies: Readonly<Record<string, (error: SystemError) => string>> = {
  EADDRINUSE: ({ port }) =>
    `port ${port} is in use already; set DUET_PORT to another, or to 0 for a free one`,
  EADDRNOTAVAIL: ({ address }) => `this machine has no address ${address}; set DUET_HOST to one`,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ENOENT: ({ path, syscall = '' }) => `there is no ${lacking[syscall] ?? 'such file:'} ${path}`,
  ENOTDIR: ({ path }) =>
    `${path} leads through a file or is one, but a folder is needed; ${another}`,
  ENOSPC: fullDisk,
  EROFS: ({ path }) => `${path} is on a disk that cannot be written; ${elsewhere}`,
  EACCES: ({ path, port }) =>
    path === undefined
      ? `this user may not listen on port ${port}; set DUET_PORT to one above 1023`
      : `${path} is closed to this user; ${elsewhere}`,
}

/** An error in a sentence, with what to do if that is known. */
export const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  // What a caller is told lacks the reason, which is for an operator.
  if (error.cause instanceof Failure) return explain(error.cause)
  const system = (error instanceof Failure ? error.cause : error) as SystemError | undefined
  const known = system?.errcode === 13 ? fullDisk : remedies[String(system?.code)]
  const remedy = system?.syscall === 'mkdtemp' ? noTemporary : known
  // A remedy without a path is for what the settings name here, which a server somewhere else is not.
  const isHere = error === system || system?.path !== undefined
  return system && remedy && isHere ? remedy(system) : error.message
}

/** The signals that ask a program to end, one because its terminal is gone. */
export const endingSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** With the exit code that a shell shows for a program that such a signal ended. */
const endAtOnce = (_: NodeJS.Signals, number: number): void => process.exit(128 + number)

/** Lets them end the program in a container too: its first process loses each that it does not handle (pid_namespaces(7)). */
export const endUnlessHandled = (): void => {
  if (process.pid === 1) for (const signal of endingSignals) process.on(signal, endAtOnce)
}

/** Says that a command handles them from now on. */
export const nowHandled = (): void => {
  for (const signal of endingSignals) process.off(signal, endAtOnce)
}

/** Ends the process where its result cannot be written, with the reason unless whoever reads it has enough; Node would show its own stack. */
export const endWithout = (stream: NodeJS.WriteStream): void => {
  if (stream.listenerCount('error') > 0) return
  stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE')
      process.stderr.write(`duet: standard output cannot be written: ${message}\n`)
    process.exit(1)
  })
}

/** Lets the process go on if what it writes there is lost, on a full disk or because nobody reads it any more. */
export const goOnWithout = (stream: NodeJS.WriteStream): void => {
  stream.removeAllListeners('error').on('error', () => {})
}
