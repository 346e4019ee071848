/** What the service observes, as structured JSON lines: never a token, a body or an email address. */
import { pino } from 'pino'
import type { Event, Observe } from '#observe.ts'

export type Logging = { readonly observe: Observe; readonly flush: () => void }

type Level = 'info' | 'warn' | 'error' | 'silent'

/** Listens to events and logs them on standard output, a line each; lines are written in batches. */
export const logging = (level: Level): Logging => {
  const destination = pino.destination({ dest: 1, minLength: 4096, sync: false })
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.epochTime }, destination)
  const timer = setInterval(() => destination.flush(), 500)
  timer.unref()
  const observe = (event: Event): void => {
    switch (event.kind) {
      case 'request': {
        if (level !== 'info') return
        const { kind: _, milliseconds, ...facts } = event
        log.info({ ...facts, ms: Math.round(milliseconds * 100) / 100 }, 'request')
        break
      }
      case 'bug':
        log.error({ requestId: event.requestId, err: event.error }, 'bug')
        break
      case 'notice':
        log.info(event.message)
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
