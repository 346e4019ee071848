/** Writes for a service to be disturbed at: users, orders and pays, from many callers at once. */
import { mint } from '#auth/token.ts'
import { secret } from '../world.ts'

/** Sends POSTs as a user of its own; gives the status and what was answered, or undefined where the service is gone. */
const callerOf = async (url: string, name: string) => {
  const ask = async (
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    try {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return { status: response.status, json: (await response.json()) as { id: number } }
    } catch {
      return undefined
    }
  }
  const signedUp = await ask('/api/users', { name, email: `${name}@example.org` })
  const sub = signedUp?.json.id ?? 0
  const bearer = async (role: 'user' | 'admin') => ({
    Authorization: `Bearer ${await mint({ sub, role, ttl: 7200 }, secret, Date.now())}`,
  })
  return { ask, user: await bearer('user'), admin: await bearer('admin') }
}

/** So many rounds of sign-up, order and pay by each of so many callers. */
export const load = async (url: string, callers: number, rounds: number): Promise<void> => {
  const first = await callerOf(url, 'first')
  const product = await first.ask(
    '/api/products',
    { name: 'Lamp', category: 'c', price: 19.99, stock: 1_000_000 },
    first.admin,
  )
  const items = [{ productId: product?.json.id, quantity: 1 }]
  const run = async (name: string) => {
    const caller = await callerOf(url, name)
    for (let round = 0; round < rounds; round++) {
      await caller.ask('/api/users', { name, email: `${name}.${round}@example.org` })
      const order = await caller.ask('/api/orders', { items }, caller.user)
      const key = { 'Idempotency-Key': `${name}-${round}` }
      await caller.ask(`/api/orders/${order?.json.id}/pay`, {}, { ...caller.user, ...key })
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, index) => run(`w${index}`)))
}
