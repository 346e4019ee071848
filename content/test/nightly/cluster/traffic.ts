/** Traffic of good clients: 300 requests a second of reads, orders and pays, sent again until there is a definite answer. */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { pause } from '#test/support/wait.ts'

const perSecond = 300

/** So many reads and so many writes wait for their answers at the most: a busy machine is sent fewer. */
const mostOpen = { reads: 24, writes: 48 }

/** An answer, or a connection that broke: status 0. */
export type Answer = {
  readonly at: number
  readonly kind: 'read' | 'write'
  readonly status: number
  readonly text: string
}

type Sending = {
  readonly kind: Answer['kind']
  readonly line: string
  readonly token: string
  readonly body?: unknown
  readonly key?: string
}

export type Traffic = {
  /** Every answer since the last call. */
  readonly taken: () => readonly Answer[]
  /** Acknowledged orders by id, with the moment when each was placed: a lost id is given again. */
  readonly placed: ReadonlyMap<number, number>
  /** Those of them whose payment was acknowledged. */
  readonly paid: ReadonlySet<number>
  /** Answers that no fault of a database excuses. */
  readonly faults: readonly string[]
  readonly end: () => Promise<void>
}

export type Buyer = { readonly token: string; readonly product: number }

type Options = {
  /** The ports of the services, of which some may be away for a moment. */
  readonly ports: readonly number[]
  /** Who buys what: several, since buyers of one thing wait for each other. */
  readonly buyers: readonly Buyer[]
  /** Distinguishes the keys of this traffic. */
  readonly name: string
}

type Reply = { readonly status: number; readonly retryAfter: number; readonly text: string }

const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 })

/** Sends it once; a connection that breaks, or is silent for 30 s, has status 0. */
const sendTo = (port: number, { line, token, body, key }: Sending): Promise<Reply> =>
  new Promise(resolve => {
    const [method = 'GET', path = '/'] = line.split(' ')
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${token}`,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(text !== '' && { 'content-type': 'application/json' }),
      'content-length': Buffer.byteLength(text),
    }
    const broken = (error: Error) => resolve({ status: 0, retryAfter: 1, text: error.message })
    const sent = request({ agent, port, host: '127.0.0.1', method, path, headers }, response => {
      let answer = ''
      response.setEncoding('utf8').on('data', part => {
        answer += part
      })
      response.once('error', broken)
      response.once('end', () => {
        const retryAfter = Number(response.headers['retry-after'] ?? 0)
        resolve({ status: response.statusCode ?? 0, retryAfter, text: answer })
      })
    })
    sent.setTimeout(30_000, () => sent.destroy(new Error('no answer')))
    sent.once('error', broken)
    sent.end(text)
  })

/** Whether to send it again: the service says so, or nothing came back. */
const isOpen = ({ status, text }: Reply) =>
  status === 0 || status === 503 || text.includes('IDEMPOTENCY_IN_FLIGHT')

/** Starts it. */
export const startTraffic = ({ ports, buyers, name }: Options): Traffic => {
  let answers: Answer[] = []
  const faults: string[] = []
  const placed = new Map<number, number>()
  const paid = new Set<number>()
  const toPay: { readonly id: number; readonly token: string }[] = []
  const open = { reads: new Set<Promise<void>>(), writes: new Set<Promise<void>>() }
  let turn = 0

  const buyerOf = (number: number) => buyers[number % buyers.length] as Buyer
  const sendOnce = async (sending: Sending): Promise<Reply> => {
    const port = ports[turn++ % ports.length] as number
    const reply = await sendTo(port, sending)
    const { status, text, retryAfter } = reply
    answers.push({ at: performance.now(), kind: sending.kind, status, text })
    if (status === 503 && retryAfter < 1) faults.push(`${sending.line}: 503 without Retry-After`)
    return reply
  }
  /** Sends it until there is a definite answer, as late as the service asks for. */
  const insist = async (sending: Sending, expected: number): Promise<string> => {
    for (;;) {
      const reply = await sendOnce(sending)
      if (!isOpen(reply)) {
        if (reply.status !== expected) faults.push(`${sending.line}: ${reply.status} ${reply.text}`)
        return reply.status === expected ? reply.text : ''
      }
      await pause(reply.retryAfter * 1000 * (1 + Math.random() / 4))
    }
  }
  const read = async (number: number) => {
    const { token, product } = buyerOf(number)
    const lines = [`GET /api/products/${product}`, 'GET /api/orders?limit=5', 'GET /api/posts']
    await sendOnce({ kind: 'read', token, line: lines[number % lines.length] as string })
  }
  const place = async (number: number) => {
    const { token, product } = buyerOf(number)
    const body = { items: [{ productId: product, quantity: 1 }] }
    const line = 'POST /api/orders'
    const sending: Sending = { kind: 'write', line, token, body, key: `${name}-place-${number}` }
    const text = await insist(sending, 201)
    if (text === '') return
    const { id, createdAt } = JSON.parse(text) as {
      readonly id: number
      readonly createdAt: string
    }
    placed.set(id, Date.parse(createdAt))
    toPay.push({ id, token })
  }
  const pay = async ({ id, token }: (typeof toPay)[number]) => {
    const line = `POST /api/orders/${id}/pay`
    const text = await insist({ kind: 'write', line, token, key: `${name}-pay-${id}` }, 200)
    if (text !== '') paid.add(id)
  }
  const begin = (kind: keyof typeof open, work: () => Promise<void>) => {
    if (open[kind].size >= mostOpen[kind]) return
    const done = work().then(() => void open[kind].delete(done))
    open[kind].add(done)
  }
  let number = 0
  const timer = setInterval(() => {
    const count = number++
    // Of ten requests six read.
    if (count % 10 < 6) return begin('reads', () => read(count))
    const placedOne = toPay.shift()
    if (placedOne === undefined) return begin('writes', () => place(count))
    if (open.writes.size < mostOpen.writes) return begin('writes', () => pay(placedOne))
    toPay.unshift(placedOne)
  }, 1000 / perSecond)
  return {
    taken: () => {
      const all = answers
      answers = []
      return all
    },
    paid,
    placed,
    faults,
    end: async () => {
      clearInterval(timer)
      await Promise.all([...open.reads, ...open.writes])
    },
  }
}

/** An order as the store has it. */
export type Order = { readonly status: string; readonly createdAt: number }

/** What came of the orders, by the store: how many acknowledged ones are not there, and how many are there that nobody was told of. */
export const lostIn = (
  { placed, paid }: Pick<Traffic, 'placed' | 'paid'>,
  orders: ReadonlyMap<number, Order>,
): { readonly lost: number; readonly twice: number } => {
  assert.ok(placed.size > 0, 'no order was placed')
  const isThere = (id: number) => orders.get(id)?.createdAt === placed.get(id)
  const there = [...placed.keys()].filter(isThere)
  const unpaid = there.filter(id => paid.has(id) && orders.get(id)?.status !== 'paid')
  // Each write was sent until it was acknowledged: one that is there without that is the second effect of its key.
  return { lost: placed.size - there.length + unpaid.length, twice: orders.size - there.length }
}
