/** Events as structured lines of JSON: never a token, a body or an email address. */
import { write, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Logger } from 'pino'
import { clipped, steering } from '#base/text.ts'
import type { Event, Observe, RequestEvent, Trace } from '#observe.ts'

/** What makes the lines of all but requests, which are made here: a service listens sooner without it. */
const loadPino = (): typeof import('pino') => createRequire(import.meta.url)('pino')

export type Logging = {
  readonly observe: Observe
  /** Writes whole lines, such as those of another thread. */
  readonly add: (lines: string) => void
  readonly flush: () => void
  /** Writes what waits; nothing of it stays in the process. */
  readonly end: () => void
}

type LogLevel = 'info' | 'warn' | 'error' | 'silent'

const rounded = (milliseconds: number): number => Math.round(milliseconds * 100) / 100

/** The names of OpenTelemetry for traces in logs, by which viewers of logs find the trace. */
const traceFields = ({ traceId, parentId, spanId }: Trace) => ({
  trace_id: traceId,
  span_id: spanId,
  parent_id: parentId,
})

/** Characters that a terminal obeys and does not show, such as U+202E, which reverses the text behind it. JSON itself escapes the ones below U+0020. */
const hidden = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu

/** The same JSON with each hidden character in its escaped form, by its units. */
const escaped = (json: string): string =>
  json.replace(hidden, character =>
    character.replace(/./gs, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )

/** An address, in plain or escaped, or a text as long as a token. */
const secretPart = /[^/]*(?:@|%40)[^/]*|[^/]{65,}/gi

/** Most paths are short, have no address and need no escape: to see that takes half the time of making JSON of them. */
const plainPath = /^[\w/.~:+,;=-]{1,64}$/

/** The line that pino would write, made by hand: this one is written for every request, in a third of the time. */
const requestLine = (event: RequestEvent): string => {
  const { requestId, method, path, status, milliseconds, viewer, code, trace } = event
  const shownPath = plainPath.test(path)
    ? `"${path}"`
    : escaped(JSON.stringify(path.replace(secretPart, '…')))
  const ms = rounded(milliseconds)
  const shownViewer = typeof viewer === 'string' ? `"${viewer}"` : viewer
  const fault = code === undefined ? '' : `,"code":"${code}"`
  const traced = trace === undefined ? '' : `,${JSON.stringify(traceFields(trace)).slice(1, -1)}`
  return `{"level":30,"time":${Date.now()},"requestId":"${requestId}","method":"${method}","path":${shownPath},"status":${status},"viewer":${shownViewer},"ms":${ms}${fault}${traced},"msg":"request"}\n`
}

/** The most characters of one statement in the log, and of the name of an operation. */
const longestStatement = 2000
const longestName = 100

/** Where the time of a request went; with no value that a caller sent. */
const slowFields = ({ milliseconds, wait, work, operation, trace, ...event }: RequestEvent) => ({
  requestId: event.requestId,
  method: event.method,
  route: event.route,
  ...(operation && {
    operation: {
      name: operation.name && clipped(operation.name, longestName),
      hash: operation.hash(),
    },
  }),
  status: event.status,
  viewer: event.viewer,
  ms: rounded(milliseconds),
  wait: rounded(wait),
  run: rounded(milliseconds - wait),
  ...(work && {
    store: rounded(work.store),
    reads: work.reads,
    slowReads: work.slow,
    writes: work.writes,
    levels: work.levels,
    rows: work.rows,
  }),
  bytes: event.bytes,
  ...(work && {
    statements: work.statements.map(text =>
      text.replace(/\s+/g, ' ').trim().slice(0, longestStatement),
    ),
  }),
  ...(trace && traceFields(trace)),
})

/** What an event says beside its kind. */
const fieldsOf = ({ kind: _, ...fields }: Event): object => fields

/** An error with all its members, except those in which PostgreSQL quotes the rows it is about. */
const shownError = (error: Error): object => {
  const { err } = loadPino().stdSerializers
  const { detail, where, ...shown } = err(error) as Record<string, unknown>
  return shown
}

const shownMail = ({ to, subject, text }: Event & { kind: 'mail' }): string => {
  const letter = `To: ${to}\nSubject: ${subject}\n\n${text}`
  const plain = letter.replace(steering, mark => (mark === '\n' ? mark : ' '))
  return `\nmail, shown here because DUET_SMTP_URL is not set:\n\n${plain.replace(/^(?=.)/gm, '  ')}\n`
}

/** How many characters of lines are written together, and how many wait at most while they cannot be written. */
const together = { least: 16_000, most: 16 * 1_048_576 }

/** How long lines wait for more, in milliseconds. */
const between = 500

/** How long to wait for a reader that takes nothing just now, in milliseconds, and how often at the end of the process. */
const busyPause = 100
const lastTries = 30

const stdout = 1

const isBusy = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN'

/** Does one thing regularly, and another when the process ends, which says what led to that; gives what does the last and no more. */
const regularly = (flush: () => void, last: () => void): (() => void) => {
  const timer = setInterval(flush, between).unref()
  process.once('exit', last)
  return () => {
    clearInterval(timer)
    process.off('exit', last)
    last()
  }
}

/**
 * Lines on standard output that nobody waits for, written together. What cannot be written, because the disk is full or the reader
 * takes nothing, waits too, up to a limit; above that it is lost. The destinations of pino never end their last flush in
 * either case (decisions/0037).
 */
const createOutput = () => {
  let waiting = ''
  /** What is being written, or is to be written next. */
  let present = Buffer.alloc(0)
  let isWriting = false
  let isTold = false
  /** Once, on standard error, which may be on the same disk. */
  const tell = ({ message }: Error): void => {
    if (!isTold)
      process.stderr.write(`duet: the log cannot be written (${message}); make room for it\n`)
    isTold = true
  }
  /** Begins to write what waits. */
  const flush = (): void => {
    if (isWriting) return
    if (present.length === 0) {
      present = Buffer.from(waiting)
      waiting = ''
    }
    if (present.length === 0) return
    isWriting = true
    write(stdout, present, (error, count) => {
      isWriting = false
      if (error === null) {
        present = present.subarray(count)
        // The few lines that came meanwhile wait for more: each write also costs the time of a thread.
        if (present.length > 0 || waiting.length >= together.least) flush()
      } else if (isBusy(error)) setTimeout(flush, busyPause).unref()
      else tell(error)
    })
  }
  const add = (line: string): void => {
    const before = waiting.length
    if (before + line.length <= together.most) waiting += line
    // It is flushed only when the length is reached; if that fails, the next regular flush tries again.
    if (before < together.least && waiting.length >= together.least) flush()
  }
  /** Writes all that waits before it returns, however long a reader takes for that, within bounds, unless that is impossible. */
  const flushSync = (): void => {
    // What is being written now belongs to another thread.
    let rest = Buffer.concat([isWriting ? Buffer.alloc(0) : present, Buffer.from(waiting)])
    present = Buffer.alloc(0)
    waiting = ''
    const still = new Int32Array(new SharedArrayBuffer(4))
    for (let tries = 0; rest.length > 0; )
      try {
        rest = rest.subarray(writeSync(stdout, rest))
      } catch (error) {
        if (!isBusy(error) || ++tries > lastTries) {
          tell(error as Error)
          return
        }
        Atomics.wait(still, 0, 0, busyPause)
      }
  }
  return { add, flushSync, end: regularly(flush, flushSync) }
}

/** Lines of a thread, given together to the one that writes those of all: what two threads write at once could be mixed within a line. */
const createRelay = (send: (lines: string) => void): ReturnType<typeof createOutput> => {
  let waiting = ''
  const flush = (): void => {
    if (waiting !== '') send(waiting)
    waiting = ''
  }
  return {
    add: line => {
      waiting += line
      if (waiting.length >= together.least) flush()
    },
    flushSync: flush,
    end: regularly(flush, flush),
  }
}

/**
 * Listens to events and logs them on standard output, a line each, or gives the lines to `relay`. A request that took `slow` milliseconds or
 * more has a second line that says where the time went.
 */
export const logging = (
  level: LogLevel,
  slow = Number.POSITIVE_INFINITY,
  relay?: (lines: string) => void,
): Logging => {
  const { add, flushSync, end } = relay ? createRelay(relay) : createOutput()
  let loaded: Logger | undefined
  const logger = (): Logger => {
    if (loaded) return loaded
    const { pino, stdTimeFunctions } = loadPino()
    const serializers = { err: shownError }
    const options = { level, base: null, timestamp: stdTimeFunctions.epochTime, serializers }
    loaded = pino(options, { write: (line: string) => add(escaped(line)) })
    return loaded
  }
  // At the latest soon after the start: a process that lacks descriptors later could not load it.
  setTimeout(logger, 1000).unref()
  const observe = (event: Event): void => {
    switch (event.kind) {
      case 'request':
        if (level === 'info') add(requestLine(event))
        if (event.milliseconds >= slow) logger().warn(slowFields(event), 'slow')
        break
      case 'bug':
        logger().error({ requestId: event.requestId, err: event.error }, 'bug')
        break
      case 'mail failed':
        logger().warn(fieldsOf(event), 'mail not sent')
        break
      case 'effect failed':
        logger().warn(fieldsOf(event), event.again ? 'effect failed' : 'effect given up')
        break
      case 'mail':
        // It has an address and a token, which only a developer's own terminal may show, and no log.
        if (level !== 'silent') process.stderr.write(shownMail(event))
        break
      case 'shown':
        if (level !== 'silent') process.stderr.write(`duet: ${event.text}\n`)
        break
      case 'notice':
        logger().warn(event.message)
        break
      case 'problem':
        logger().error(event.message)
        break
      case 'fatal':
        logger().fatal(event.message)
        break
      default:
        event satisfies never
    }
  }
  return { observe, add, flush: flushSync, end }
}
