/** Requests at a steady rate, whatever becomes of the answers, over connections that are kept as good clients keep them. */
import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { longest, until } from '#test/support/wait.ts'

export type Sending = {
  /** Such as `GET /api/users/1`. */
  readonly line: string
  readonly body?: unknown
  /** An `Idempotency-Key`. */
  readonly key?: string
  readonly expect: number
  /** Called with the body of the answer that was expected. */
  readonly onAnswer?: (text: string) => void
}

type Options = {
  readonly port: number
  readonly authorization: string
  readonly next: (number: number) => Sending
  readonly perSecond: number
  /** So many requests wait for their answers at the most: a machine that is too busy for all of them is sent fewer. */
  readonly mostOpen: number
  readonly mostFree: number
}

/** The results of the requests. */
export type Tally = {
  sent: number
  /** Sent once more, as the kept connection was closed while they were on their way (RFC 9112, section 9.3.1). */
  again: number
  readonly errors: string[]
}

/** Fails where a request failed; passes the figures to `tell`. */
export const assertUnnoticed = (tally: Tally, tell: (figures: string) => void) => {
  const { sent, again, errors } = tally
  tell(`${sent} requests, ${again} of them sent again, ${errors.length} errors`)
  assert.deepEqual([...new Set(errors)].slice(0, 5), [])
}

const textOf = async (response: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part
  return text
}

/** Starts to send. `more` waits until so many more were sent; `end` stops and waits for the last answers. */
export const startLoad = ({
  port,
  authorization,
  next,
  perSecond,
  mostOpen,
  mostFree,
}: Options) => {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: mostFree })
  const tally: Tally = { sent: 0, again: 0, errors: [] }
  const open = new Set<Promise<void>>()

  const answered = (sending: Sending): Promise<IncomingMessage> => {
    const { line, body, key } = sending
    const [method = 'GET', path = '/'] = line.split(' ')
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      authorization,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
    }
    return new Promise((resolve, reject) => {
      const sent = request({ agent, port, host: '127.0.0.1', method, path, headers }, resolve)
      sent.setTimeout(longest, () => sent.destroy(new Error('no answer')))
      sent.once('error', (error: NodeJS.ErrnoException) => {
        const isSafe = method === 'GET' || key !== undefined
        if (!sent.reusedSocket || !isSafe || error.code !== 'ECONNRESET') return reject(error)
        tally.again++
        resolve(answered(sending))
      })
      sent.end(text)
    })
  }
  const send = async (sending: Sending): Promise<void> => {
    const { line, expect, onAnswer } = sending
    try {
      const response = await answered(sending)
      const text = await textOf(response)
      if (response.statusCode === expect) return onAnswer?.(text)
      tally.errors.push(`${line}: status ${response.statusCode} ${text}`)
    } catch (error) {
      tally.errors.push(`${line}: ${(error as Error).message}`)
    }
  }

  const timer = setInterval(() => {
    if (open.size >= mostOpen) return
    const done = send(next(tally.sent++)).then(() => void open.delete(done))
    open.add(done)
  }, 1000 / perSecond)
  const more = async (count: number) => {
    const enough = tally.sent + count
    await until('more requests are sent', () => tally.sent >= enough)
  }
  const end = async (): Promise<Tally> => {
    clearInterval(timer)
    await Promise.all(open)
    agent.destroy()
    return tally
  }
  return { more, end }
}
