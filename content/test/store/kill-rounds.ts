/** Kills the service under writes, again and again on one store, and looks for what it had acknowledged. */
import assert from 'node:assert/strict'
import { connect } from '#engines/sqlite/connection.ts'
import { type Service, type Settings, serve, start } from '#test/duet.ts'
import { pause, until } from '#test/support/wait.ts'

const writers = 32

/** Posts users until the service is gone; gives the address of each that was acknowledged to `acknowledge`. */
const writeOn = async ({ url }: Service, name: string, acknowledge: (email: string) => void) => {
  for (let count = 0; ; count++) {
    const email = `${name}.${count}@example.org`
    try {
      const response = await fetch(`${url}/api/users`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name, email }),
      })
      // The status line acknowledges the write; the rest of the answer may be lost.
      if (response.status === 201) acknowledge(email)
      await response.arrayBuffer()
    } catch {
      return
    }
  }
}

const rowsOf = (file: string, text: string) => {
  const connection = connect(file)
  const rows = connection.query({ text, values: [] })
  connection.close()
  return rows.map(([value]) => value)
}

/** Starts the service and kills it at a random moment of the time that a start takes. */
const killedStart = async (settings: Settings, usual: number) => {
  const { child, closed } = start(['serve'], { ...settings, DUET_PORT: '0', DUET_LOG: 'error' })
  await pause(Math.random() * usual)
  child.kill('SIGKILL')
  await closed
}

/**
 * Rounds of writes that end in SIGKILL at a random moment, or as `die` has it, and after each so many restarts that end so too;
 * fails where an acknowledged write is not there.
 */
export const killRounds = async (
  rounds: number,
  file: string,
  settings: Settings,
  killedStarts = 0,
  die: (service: Service) => Promise<unknown> = service => service.end('SIGKILL'),
) => {
  const acknowledged = new Set<string>()
  const begun = performance.now()
  let service = await serve(settings)
  const usual = performance.now() - begun
  for (let round = 0; round < rounds; round++) {
    const enough = acknowledged.size + writers + Math.floor(Math.random() * 5 * writers)
    const writing = Array.from({ length: writers }, (_, index) =>
      writeOn(service, `r${round}w${index}`, email => acknowledged.add(email)),
    )
    await until('enough writes are acknowledged', () => acknowledged.size >= enough)
    await die(service)
    await Promise.all(writing)
    for (let number = 0; number < killedStarts; number++) await killedStart(settings, usual)
    service = await serve(settings)
    const stored = new Set(rowsOf(file, 'select email from users'))
    const lost = [...acknowledged].filter(email => !stored.has(email))
    assert.deepEqual(lost, [], `round ${round}, killed after ${enough} writes`)
    // What was on its way may be there or not, but whole: one for each writer at the most.
    const unasked = [...stored].filter(
      email => /^r\d+w/.test(String(email)) && !acknowledged.has(String(email)),
    )
    assert.ok(unasked.length <= (round + 1) * writers)
    assert.deepEqual(rowsOf(file, 'pragma integrity_check'), ['ok'])
    const [kept] = rowsOf(file, "select n from counts where entity = 'users' and field = ''")
    assert.equal(kept, stored.size)
  }
  await service.end()
  return acknowledged.size
}
