/** Backups that are killed, and backups of a store under writes: what the usual and the nightly tests share. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sumFileOf } from '#engines/sqlite/backup.ts'
import { command } from '#test/commands.ts'
import { duet, type Settings, serve, start } from '#test/duet.ts'
import { pause, until } from '#test/support/wait.ts'

export const rowsOf = (file: string, text: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare(text).all()
  database.close()
  return rows.map(row => ({ ...row }))
}

/** Each of these finds no row in a store whose parts agree with each other. */
const contradictions = {
  'an order whose amount is not the sum of its items': `select o.id from orders o
    where o.amount <> (select sum(price * quantity) from order_items i where i.order_id = o.id)`,
  'an order whose last event is not its state': `select o.id from orders o where o.status <>
    (select to_status from order_events e where e.order_id = o.id order by e.id desc limit 1)`,
  'a product whose stock and sold pieces are not what there was': `select p.id from products p
    where p.stock + (select coalesce(sum(i.quantity), 0) from order_items i
      join orders o on o.id = i.order_id
      where i.product_id = p.id and o.status in ('pending', 'paid')) <> 1000000`,
  'a count that is not the number of rows': `select n from counts
    where entity = 'products' and field = '' and n <> (select count(*) from products)`,
} as const

export const assertWhole = (file: string) => {
  assert.deepEqual(rowsOf(file, 'pragma integrity_check'), [{ integrity_check: 'ok' }])
  for (const [what, text] of Object.entries(contradictions))
    assert.deepEqual(rowsOf(file, text), [], what)
}

/** The temporary files of a backup that is not finished. */
export const partsOf = (target: string) => {
  const finished = [basename(target), basename(sumFileOf(target))]
  return readdirSync(dirname(target)).filter(
    entry => entry.startsWith(basename(target)) && !finished.includes(entry),
  )
}

/** Kills backups after random times; gives how often the file was there, whole, and how often it was not. */
export const killedBackups = async (
  rounds: number,
  target: (round: number) => string,
  settings: Settings,
) => {
  const seen = { whole: 0, absent: 0, halfway: 0 }
  for (let round = 0; round < rounds; round++) {
    const file = target(round)
    const { child, closed } = start(['backup', file], settings)
    // Half of them as soon as the copy has begun, the others at any moment.
    if (round % 2 === 0)
      while (partsOf(file).length === 0 && child.exitCode === null) await pause(1)
    else await pause(Math.random() * 700)
    child.kill('SIGKILL')
    await closed
    if (partsOf(file).length > 0) seen.halfway++
    if (!existsSync(file)) seen.absent++
    else {
      seen.whole++
      assertWhole(file)
    }
  }
  return seen
}

/** Backs up again and again while orders are made and paid; gives how many orders the copies had. */
export const backupsUnderWrites = async (
  rounds: number,
  target: (round: number) => string,
  settings: Settings,
): Promise<readonly number[]> => {
  const service = await serve(settings)
  const { stdout } = await command(['token', '--user', '1', '--role', 'admin'], settings)
  const headers = { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' }
  const post = async (path: string, body?: object) => {
    const response = await fetch(`${service.url}/api${path}`, {
      method: 'POST',
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { id: number }
    assert.ok(response.ok, JSON.stringify(answer))
    return answer.id
  }
  let isOn = true
  let placed = 0
  const write = async (number: number) => {
    const last = ['pay', 'cancel', 'pay', undefined][number % 4]
    while (isOn) {
      const items = [1, 2, 3].map(productId => ({ productId, quantity: 1 + (number % 5) }))
      const id = await post('/orders', { items })
      placed++
      if (last !== undefined) await post(`/orders/${id}/${last}`)
    }
  }
  const writers = Array.from({ length: 4 }, (_, number) => write(number))
  const counts: number[] = []
  try {
    for (let round = 0; round < rounds; round++) {
      const file = target(round)
      const before = placed
      await until('orders are placed', () => placed > before)
      const { code, stderr } = await duet(['backup', file], settings)
      assert.equal(code, 0, stderr)
      assertWhole(file)
      assert.deepEqual(partsOf(file), [])
      counts.push(Number(rowsOf(file, 'select count(*) as n from orders')[0]?.n))
    }
  } finally {
    isOn = false
    await Promise.all(writers)
    await service.end()
  }
  return counts
}

/** A store with content of some size, and products with a stock of a million. */
export const storeWithContent = async (settings: Settings, file: string, posts: number) => {
  const sizes = { users: 50, posts, comments: 0, products: 20 }
  const args = Object.entries(sizes).flatMap(([name, count]) => [`--${name}`, String(count)])
  const { code, stderr } = await command(['seed', ...args], settings)
  assert.equal(code, 0, stderr)
  const database = new DatabaseSync(file)
  database.exec('update products set stock = 1000000')
  database.close()
}
