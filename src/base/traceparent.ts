/** The header `traceparent` (W3C Trace Context) for calls to other services while a request is run. */
import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<string>()

/** Runs a request whose calls to others carry this header. */
export const passingOn = <Result>(traceparent: string, run: () => Result): Result =>
  current.run(traceparent, run)

/** The header for a call to another service; none outside of a trace. */
export const traceHeaders = (): { readonly traceparent?: string } => {
  const traceparent = current.getStore()
  return traceparent === undefined ? {} : { traceparent }
}
