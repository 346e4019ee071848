/** Events as structured lines of JSON: never a token, a body or an email address. */
import { pino } from 'pino'
import type { Event, Observe, RequestEvent, Trace } from '#observe.ts'
import { createOutput } from '#serve/output.ts'

export type Logging = { readonly observe: Observe; readonly flush: () => void }

type Level = 'info' | 'warn' | 'error' | 'silent'

const rounded = (milliseconds: number): number => Math.round(milliseconds * 100) / 100

/** The names of OpenTelemetry for traces in logs, by which viewers of logs find the trace. */
const traceFields = ({ traceId, parentId, spanId }: Trace) => ({
  trace_id: traceId,
  span_id: spanId,
  parent_id: parentId,
})

const traceText = (trace: Trace): string => `,${JSON.stringify(traceFields(trace)).slice(1, -1)}`

/** An address, in plain or escaped, or a text as long as a token. */
const secretPart = /[^/]*(?:@|%40)[^/]*|[^/]{65,}/gi

/** Most paths are short and have no address: to see that takes a fifth of the time of looking for parts. */
const withoutSecrets = (path: string): string =>
  path.length < 65 && !path.includes('@') && !path.includes('%40')
    ? path
    : path.replace(secretPart, '…')

/** The line that pino would write, made by hand: this one is written for every request, in a third of the time. */
const requestLine = (event: RequestEvent): string => {
  const { requestId, method, path, status, milliseconds, viewer, code, trace } = event
  const fault = code === undefined ? '' : `,"code":"${code}"`
  const traced = trace === undefined ? '' : traceText(trace)
  return `{"level":30,"time":${Date.now()},"requestId":"${requestId}","method":"${method}","path":${JSON.stringify(withoutSecrets(path))},"status":${status},"viewer":${viewer},"ms":${rounded(milliseconds)}${fault}${traced},"msg":"request"}\n`
}

/** The most characters of one statement in the log. */
const longestStatement = 2000

/** Where the time of a request went; with no value that a caller sent. */
const slowFields = ({ milliseconds, wait, work, operation, trace, ...event }: RequestEvent) => ({
  requestId: event.requestId,
  method: event.method,
  route: event.route,
  ...(operation && { operation: { name: operation.name, hash: operation.hash() } }),
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

/** An error with all that it says but what PostgreSQL tells of the rows it is about. */
const shownError = (error: Error): object => {
  const { detail, where, ...shown } = pino.stdSerializers.err(error) as Record<string, unknown>
  return shown
}

const shownMail = ({ to, subject, text }: Event & { kind: 'mail' }): string =>
  `\nmail, shown here because DUET_SMTP_URL is not set:\n\n${`To: ${to}\nSubject: ${subject}\n\n${text}`.replace(/^(?=.)/gm, '  ')}\n`

/** How many characters of lines are written together, and how many wait at the most where they cannot be written. */
const together = { least: 16_000, most: 16 * 1_048_576 }

/** Tells once that the log cannot be written: on standard error, which may be of the same disk. */
const tellingOnce = () => {
  let isTold = false
  return ({ message }: Error): void => {
    if (!isTold)
      process.stderr.write(`duet: the log cannot be written (${message}); make room for it\n`)
    isTold = true
  }
}

/** Lines on standard output, written together: `add` takes a line, and `logger` makes others. */
const lineWriter = (level: Level) => {
  const output = createOutput(together, tellingOnce())
  const timestamp = pino.stdTimeFunctions.epochTime
  const serializers = { err: shownError }
  const logger = pino({ level, base: null, timestamp, serializers }, output)
  setInterval(output.flush, 500).unref()
  // A process that ends on an error says what led to it.
  process.once('exit', output.flushSync)
  return { add: output.write, logger, flush: output.flushSync }
}

/**
 * Listens to events and logs them on standard output, a line each; lines are written in batches. A request that took `slow`
 * milliseconds or more has a line of its own for that.
 */
export const logging = (level: Level, slow = Number.POSITIVE_INFINITY): Logging => {
  const { add, logger, flush } = lineWriter(level)
  const observe = (event: Event): void => {
    switch (event.kind) {
      case 'request':
        if (level === 'info') add(requestLine(event))
        if (event.milliseconds >= slow) logger.warn(slowFields(event), 'slow')
        break
      case 'bug':
        logger.error({ requestId: event.requestId, err: event.error }, 'bug')
        break
      case 'mail failed':
        logger.warn(
          { recipient: event.recipient, reason: event.reason, again: event.again },
          'mail not sent',
        )
        break
      case 'mail':
        // Not in the log: it has an address and a token, which only a developer's own terminal may show.
        if (level !== 'silent') process.stderr.write(shownMail(event))
        break
      case 'notice':
        logger.warn(event.message)
        break
      case 'problem':
        logger.error(event.message)
        break
      case 'fatal':
        logger.fatal(event.message)
        break
      default:
        event satisfies never
    }
  }
  return { observe, flush }
}
