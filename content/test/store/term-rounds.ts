/** Ends a service under load, and looks for requests that were cut and writes that were lost. */
import assert from 'node:assert/strict'
import { type Settings, serve } from '#test/duet.ts'
import type { Look } from '#test/stores.ts'
import { until } from '#test/support/wait.ts'
import { busyClient } from '../support/busy-client.ts'

/** Signs users up by names of its own; gives each that was acknowledged to `acknowledge`. */
const signingUp = (name: string, acknowledge: (email: string) => void) => {
  let count = 0
  let email = ''
  return {
    ask: () => {
      email = `${name}.${++count}@example.org`
      const body = JSON.stringify({ name, email })
      const head = `POST /api/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json`
      return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    },
    hear: (head: string) => {
      assert.match(head, /^HTTP\/1\.1 201 /)
      acknowledge(email)
    },
  }
}

/** Serves 8 who read and 8 who write, each again after so many milliseconds at most, and ends on SIGTERM; gives how many writes were acknowledged. */
export const endedUnderLoad = async (
  name: string,
  { settings, rows }: { readonly settings: Settings; readonly rows: Look },
  thinks: number,
): Promise<number> => {
  const service = await serve(settings)
  const acknowledged: string[] = []
  const clients = Array.from({ length: 16 }, (_, n) =>
    n % 2 === 0
      ? busyClient(service, thinks)
      : busyClient(
          service,
          thinks,
          signingUp(`${name}.${n}`, email => acknowledged.push(email)),
        ),
  )
  await until('each has some answers', () => clients.every(({ seen }) => seen.answers > 3))
  const ended = service.end('SIGTERM')
  await Promise.all(clients.map(({ closed }) => closed))
  assert.equal((await ended).code, 0)
  assert.equal(clients.filter(({ seen }) => seen.cut).length, 0)
  // Most of them: on a busy machine one may not ask in time, and is closed while it is idle.
  assert.ok(clients.filter(({ seen }) => seen.told).length >= 8)
  const stored = new Set((await rows('select email from users')).flat())
  assert.deepEqual(
    acknowledged.filter(email => !stored.has(email)),
    [],
  )
  return acknowledged.length
}
