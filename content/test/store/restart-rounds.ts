/** A service that is ended and started again and again on one socket that outlives it, under load: no caller may notice. */
import assert from 'node:assert/strict'
import { mint } from '#auth/token.ts'
import { type Settings, serveOn, testThreads } from '#test/duet.ts'
import type { Look } from '#test/stores.ts'
import { boundSocket } from '#test/support/bound-socket.ts'
import { longest } from '#test/support/wait.ts'
import { assertUnnoticed, type Sending, startLoad } from '../support/steady-load.ts'
import { secret } from '../world.ts'
import { checkOrders } from './invariants.ts'
import { prepareOrders } from './racer.ts'

/** Of ten requests six read, two place an order and two pay one, all writes with a key; it counts what was acknowledged. */
const ordersOn = (product: number) => {
  const unpaid: number[] = []
  const placed = new Set<number>()
  const paid = new Set<number>()
  const items = [{ productId: product, quantity: 1 }]
  const place = (number: number): Sending => ({
    line: 'POST /api/orders',
    body: { items },
    key: `order-${number}`,
    expect: 201,
    onAnswer: text => {
      const { id } = JSON.parse(text) as { id: number }
      placed.add(id)
      unpaid.push(id)
    },
  })
  const read: Sending = { line: `GET /api/products/${product}`, expect: 200 }
  const pay = (): Sending => {
    const id = unpaid.shift()
    if (id === undefined) return read
    return {
      line: `POST /api/orders/${id}/pay`,
      key: `pay-${id}`,
      expect: 200,
      onAnswer: () => void paid.add(id),
    }
  }
  const next = (number: number): Sending => {
    if (number % 5 === 1) return place(number)
    return number % 5 === 3 ? pay() : read
  }
  return { next, placed, paid }
}

/** Ends the service and starts another so many times. Fails where a request failed, or the store has not each write once. */
export const handedOverRounds = async (
  restarts: number,
  rows: Look,
  own: Settings,
  tell: (figures: string) => void,
  perSecond = 300,
): Promise<void> => {
  const settings = {
    ...own,
    DUET_STORE_WAIT: '1h',
    // A busy machine needs longer than usual for what waits.
    DUET_SHUTDOWN_TIMEOUT: String(longest),
    DUET_WRITE_WAIT: '10m',
  }
  const socket = boundSocket(testThreads)
  let service = await serveOn(socket, settings)
  try {
    assert.equal(service.port, socket.port)
    const workload = await prepareOrders(service, 1_000_000)
    const { next, placed, paid } = ordersOn(workload.product)
    const load = startLoad({
      port: socket.port,
      authorization: `Bearer ${await mint({ sub: 1, role: 'admin', ttl: 7200 }, secret, Date.now())}`,
      next,
      perSecond,
      mostOpen: 1000,
      mostFree: 16,
    })
    for (let number = 0; number < restarts; number++) {
      await load.more(perSecond)
      // In turn: the next one is there before the end and waits for the store, or is started after it.
      const waiting = number % 2 === 0 ? serveOn(socket, settings) : undefined
      const { code } = await service.end('SIGTERM')
      assert.equal(code, 0, service.stderr())
      service = await (waiting ?? serveOn(socket, settings))
    }
    await load.more(perSecond)
    const tally = await load.end()
    assertUnnoticed(tally, tell)
    const stored = await rows('select id, status from orders')
    const idsOf = (is: (status: unknown) => boolean) =>
      stored.flatMap(([id, status]) => (is(status) ? [Number(id)] : []))
    assert.deepEqual(new Set(idsOf(() => true)), placed)
    assert.deepEqual(new Set(idsOf(status => status === 'paid')), paid)
    await checkOrders(rows, workload.stock)
  } finally {
    await service.end('SIGKILL')
    socket.close()
  }
}
