/** Calls between two threads: each offers functions, which the other calls as if they were its own. */
import type { MessagePort, Worker } from 'node:worker_threads'

/** What a thread offers another; what goes in and comes out is data that can cross. */
export type Offered = Readonly<Record<string, (...given: never[]) => unknown>>

/** The same functions as the other thread calls them. */
export type Remote<There extends Offered> = {
  readonly [Name in keyof There]: (
    ...given: Parameters<There[Name]>
  ) => Promise<Awaited<ReturnType<There[Name]>>>
}

/** An error as it crosses: its text, with the code and status that it has. */
type Told = { readonly message: string; readonly code?: string; readonly status?: number }

type SentCall = { readonly call: number; readonly name: string; readonly given: readonly unknown[] }
type SentAnswer = { readonly answer: number; readonly result?: unknown; readonly error?: Told }

/** The functions that the other end of a port offers, how many calls wait for it, and what ends those with an error. */
export const callsBetween = <There extends Offered>(end: MessagePort | Worker, here: Offered) => {
  // Either has what is used of it; the type of both has none.
  const port = end as MessagePort
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  const callTo =
    (name: string) =>
    (...given: readonly unknown[]) => {
      const one = Promise.withResolvers<unknown>()
      waiting.set(++last, one)
      port.postMessage({ call: last, name, given } satisfies SentCall)
      return one.promise
    }
  const answerTo = async ({ call, name, given }: SentCall): Promise<SentAnswer> => {
    try {
      return { answer: call, result: await here[name]?.(...(given as never[])) }
    } catch (error) {
      const { message, code, status } = error as Error & Told
      return { answer: call, error: { message, ...(code && { code }), ...(status && { status }) } }
    }
  }
  port.on('message', async (message: SentCall | SentAnswer) => {
    if ('call' in message) return port.postMessage(await answerTo(message))
    const { answer, result, error } = message
    const one = waiting.get(answer)
    waiting.delete(answer)
    if (error) one?.reject(Object.assign(new Error(error.message), error))
    else one?.resolve(result)
  })
  return {
    there: new Proxy({}, { get: (_, name) => callTo(String(name)) }) as Remote<There>,
    waiting: () => waiting.size,
    end: (why: Error) => {
      for (const { reject } of waiting.values()) reject(why)
      waiting.clear()
    },
  }
}
