/** Events as structured lines of JSON: never a token, a body or an email address. */
import { pino } from 'pino'
import type { Event, Observe } from '#observe.ts'

export type Logging = { readonly observe: Observe; readonly flush: () => void }

type Level = 'info' | 'warn' | 'error' | 'silent'

/** The line that pino would write, made by hand: this one is written for every request, in a third of the time. */
const requestLine = (event: Event & { kind: 'request' }): string => {
  const { requestId, method, path, status, milliseconds, viewer, code } = event
  const fault = code === undefined ? '' : `,"code":"${code}"`
  return `{"level":30,"time":${Date.now()},"requestId":"${requestId}","method":"${method}","path":${JSON.stringify(path)},"status":${status},"viewer":${viewer},"ms":${Math.round(milliseconds * 100) / 100}${fault},"msg":"request"}\n`
}

const shownMail = ({ to, subject, text }: Event & { kind: 'mail' }): string =>
  `\nmail, shown here because DUET_SMTP_URL is not set:\n\n${`To: ${to}\nSubject: ${subject}\n\n${text}`.replace(/^(?=.)/gm, '  ')}\n`

/** Listens to events and logs them on standard output, a line each; lines are written in batches. */
export const logging = (level: Level): Logging => {
  const destination = pino.destination({ dest: 1, minLength: 16_000, sync: false })
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.epochTime }, destination)
  const timer = setInterval(() => destination.flush(), 500)
  timer.unref()
  const observe = (event: Event): void => {
    switch (event.kind) {
      case 'request':
        if (level === 'info') destination.write(requestLine(event))
        break
      case 'bug':
        log.error({ requestId: event.requestId, err: event.error }, 'bug')
        break
      case 'mail failed':
        log.warn(
          { recipient: event.recipient, reason: event.reason, again: event.again },
          'mail not sent',
        )
        break
      case 'mail':
        // Not in the log: it has an address and a token, which only a developer's own terminal may show.
        if (level !== 'silent') process.stderr.write(shownMail(event))
        break
      case 'notice':
        log.warn(event.message)
        break
      case 'problem':
        log.error(event.message)
        break
      case 'fatal':
        log.fatal(event.message)
        break
      default:
        event satisfies never
    }
  }
  return { observe, flush: () => destination.flushSync() }
}
