import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderOf, type Service, serve } from '#test/duet.ts'
import { longest } from '#test/support/wait.ts'
import { checkInvariants } from '../store/invariants.ts'
import { prepareOrders } from '../store/racer.ts'

const kills = Number(process.env.DUET_TEST_ROUNDS ?? 500)
const perRound = 30
const { fresh } = folderOf('kill-pays')

/** Pays with a key until there is a definite answer, of whichever service is alive then. */
const payWith = async (
  current: () => Promise<Service>,
  token: string,
  order: number,
  key: string,
): Promise<{ body: string; tries: number }> => {
  for (let tries = 1; ; tries++) {
    const { url } = await current()
    try {
      const response = await fetch(`${url}/api/orders/${order}/pay`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Idempotency-Key': key },
        signal: AbortSignal.timeout(longest),
      })
      const body = await response.text()
      if (response.status === 503) continue
      assert.equal(response.status, 200, `order ${order}: ${body}`)
      return { body, tries }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
    }
  }
}

test(`${kills} times kill -9 amid pays: with its key each is paid once, and its answer stays the same [C4, C11]`, async t => {
  const { rows, settings } = fresh()
  let service = serve(settings)
  const workload = await prepareOrders(await service, 1_000_000)
  const answers = new Map<number, string>()
  let retried = 0
  for (let round = 0; round < kills; round++) {
    const first = await service
    const orders = await placeIn(first, workload.token, workload.product)
    const killed = Promise.withResolvers<Service>()
    const delay = Math.random() * 60
    let alive: Promise<Service> = service
    const paying = orders.map(async (order, index) => {
      await new Promise(resolve => setTimeout(resolve, (index * 60) / perRound))
      const { body, tries } = await payWith(() => alive, workload.token, order, `pay-${order}`)
      answers.set(order, body)
      if (tries > 1) retried++
    })
    await new Promise(resolve => setTimeout(resolve, delay))
    alive = killed.promise
    await first.end('SIGKILL')
    service = serve(settings)
    killed.resolve(await service)
    await Promise.all(paying)
  }
  const last = await service
  for (const [order, body] of [...answers].slice(-200)) {
    const again = await payWith(() => Promise.resolve(last), workload.token, order, `pay-${order}`)
    assert.equal(again.body, body)
  }
  await last.end()
  assert.equal(answers.size, kills * perRound)
  await checkInvariants(rows, workload.stock)
  assert.ok(retried > 0)
  t.diagnostic(`${answers.size} pays, ${retried} of them sent again`)
})

const placeIn = ({ url }: Service, token: string, product: number): Promise<readonly number[]> =>
  Promise.all(
    Array.from({ length: perRound }, async () => {
      const response = await fetch(`${url}/api/orders`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
        body: JSON.stringify({ items: [{ productId: product, quantity: 1 }] }),
      })
      assert.equal(response.status, 201)
      return ((await response.json()) as { id: number }).id
    }),
  )
