/** Requests that arrive at the same moment: all but the last byte is sent ahead, the last ones in one turn. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as dial, type Socket } from 'node:net'
import { mint } from '#auth/token.ts'
import type { Service } from '#test/duet.ts'
import { until } from '#test/support/wait.ts'
import { secret } from '../world.ts'

export type RawAnswer = {
  readonly status: number
  readonly head: string
  readonly body: string
  readonly replayed: boolean
}

export type RawLine = {
  /** Sends a request but for its last byte; resolves when the service has begun to read it. */
  readonly prepare: (path: string, headers: Readonly<Record<string, string>>) => Promise<void>
  /** Sends the last byte; gives the answer. */
  readonly release: () => Promise<RawAnswer>
  readonly close: () => void
}

const goOn = 'HTTP/1.1 100 Continue\r\n\r\n'

const answerIn = (text: Buffer): { answer: RawAnswer; rest: Buffer } | undefined => {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.subarray(0, end).toString('latin1')
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const start = end + 4
  if (text.length < start + length) return undefined
  const answer = {
    status: Number(head.slice(9, 12)),
    head,
    body: text.toString('utf8', start, start + length),
    replayed: /idempotency-replayed: true/i.test(head),
  }
  return { answer, rest: text.subarray(start + length) }
}

/** A connection for one request at a time, by hand. */
export const openLine = async (port: number): Promise<RawLine> => {
  const socket: Socket = dial(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.setNoDelay(true)
  let got: Buffer = Buffer.alloc(0)
  let waiting: PromiseWithResolvers<RawAnswer> | undefined
  let begun = Promise.withResolvers<void>()
  socket.on('data', (data: Buffer) => {
    got = Buffer.concat([got, data])
    if (got.toString('latin1').startsWith(goOn)) {
      got = got.subarray(goOn.length)
      begun.resolve()
    }
    const found = answerIn(got)
    if (!found) return
    got = found.rest
    waiting?.resolve(found.answer)
  })
  const fail = (error: Error) => {
    begun.reject(error)
    waiting?.reject(error)
  }
  begun.promise.catch(() => {})
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection was closed')))
  const prepare: RawLine['prepare'] = (path, headers) => {
    begun = Promise.withResolvers()
    begun.promise.catch(() => {})
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n${lines.join('')}\r\n{`,
    )
    return begun.promise
  }
  const release = () => {
    waiting = Promise.withResolvers<RawAnswer>()
    socket.write('}')
    return waiting.promise
  }
  return { prepare, release, close: () => socket.destroy() }
}

export type Contender = { readonly path: string; readonly key?: string }

/**
 * Completes all of them in one turn of the event loop, each on a separate connection. One that is refused, since the machine is so
 * busy that it waited too long for the others, is sent again.
 */
export const race = async (
  lines: readonly RawLine[],
  token: string,
  contenders: readonly Contender[],
): Promise<readonly RawAnswer[]> => {
  const prepare = ({ path, key }: Contender, index: number) =>
    lines[index]?.prepare(path, {
      Authorization: `Bearer ${token}`,
      ...(key !== undefined && { 'Idempotency-Key': key }),
    })
  await Promise.all(contenders.map(prepare))
  const answer = async (contender: Contender, index: number) => {
    const line = lines[index] as RawLine
    let last = await line.release()
    await until(`${contender.path} is let in`, async () => {
      if (!/"code":"(OVERLOADED|IDEMPOTENCY_IN_FLIGHT)"/.test(last.body)) return true
      await prepare(contender, index)
      last = await line.release()
      return false
    })
    return last
  }
  return Promise.all(contenders.map(answer))
}

/** A buyer and a separate product in a running service. */
export const prepareOrders = async ({ url }: Service, stock: number) => {
  /** Sends it until it is done: a service on a busy machine may refuse it at first. */
  const post = async (path: string, body: unknown, token?: string) => {
    let answer = { status: 0, text: '' }
    await until(`POST ${path} is let in`, async () => {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(body),
      })
      answer = { status: response.status, text: await response.text() }
      return answer.status !== 503
    })
    assert.equal(answer.status, 201, answer.text)
    return (JSON.parse(answer.text) as { id: number }).id
  }
  const user = await post('/api/users', { name: 'B', email: `b${Math.random()}@example.org` })
  const token = await mint({ sub: user, role: 'user', ttl: 7200 }, secret, Date.now())
  const admin = await mint({ sub: user, role: 'admin', ttl: 7200 }, secret, Date.now())
  const product = await post(
    '/api/products',
    { name: 'Lamp', category: 'c', price: 19.99, stock },
    admin,
  )
  const place = (quantity = 1) =>
    post('/api/orders', { items: [{ productId: product, quantity }] }, token)
  /** Places so many orders, a few at a time. */
  const placeMany = async (count: number): Promise<readonly number[]> => {
    const ids: number[] = []
    while (ids.length < count)
      ids.push(
        ...(await Promise.all(
          Array.from({ length: Math.min(25, count - ids.length) }, (_, index) =>
            place(1 + (index % 3)),
          ),
        )),
      )
    return ids
  }
  return { token, product, place, placeMany, stock: new Map([[product, stock]]) }
}

/** Half of the pays have a key: a third of those one between them, the others each their own. */
export const paysOf = (order: number, count: number): readonly Contender[] =>
  Array.from({ length: count }, (_, index) => ({
    path: `/api/orders/${order}/pay`,
    ...(index % 2 === 0 && { key: `pay-${order}-${index % 3 === 0 ? 'shared' : index}` }),
  }))

/** Asserts that exactly one had the effect; the others got a 409, or its very answer. */
export const assertOneEffect = (
  contenders: readonly Contender[],
  answers: readonly RawAnswer[],
): void => {
  const effects = answers.flatMap((answer, index) =>
    answer.status === 200 && !answer.replayed ? [{ answer, key: contenders[index]?.key }] : [],
  )
  const what = contenders[0]?.path
  assert.equal(effects.length, 1, `${what}: ${effects.length} effects`)
  const { answer: effect, key } = effects[0] as (typeof effects)[number]
  for (const [index, answer] of answers.entries()) {
    if (answer.replayed) {
      assert.equal(answer.body, effect.body, `${what}: a replay differs`)
      assert.ok(key !== undefined && contenders[index]?.key === key, `${what}: a stranger's replay`)
    } else if (answer.status !== 200) assert.equal(answer.status, 409, answer.body)
  }
}

/** Races orders a few at a time; calls `judge` with what each came to. */
export const raceAll = async (
  service: Service,
  token: string,
  races: readonly (readonly Contender[])[],
  judge: (contenders: readonly Contender[], answers: readonly RawAnswer[]) => void,
  lanes = 4,
): Promise<void> => {
  const waiting = races.values()
  const width = Math.max(...races.map(({ length }) => length))
  const lane = async () => {
    const lines = await Promise.all(Array.from({ length: width }, () => openLine(service.port)))
    for (const contenders of waiting) judge(contenders, await race(lines, token, contenders))
    for (const line of lines) line.close()
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
