/** More than a service can do, sent by clients who do not wait for each other: nobody waits without a word, and all is well after. */
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { folderOf, type Service, type Settings, serve } from '#test/duet.ts'
import { secret } from '../world.ts'
import { flood, type Group, inVain, line, probes, sent, type Told } from './crowd/flood.ts'
import { seedMany } from './seed-many.ts'

const seconds = Number(process.env.DUET_TEST_CROWD_SECONDS ?? 20)
/** Milliseconds that a client waits, ten times as long as a request may wait for its turn. */
const patience = 2000
/** The share of what it serves at most that a service serves at any load, beside a generator and other tests. */
const leastKept = 0.4

const store = folderOf('crowd').fresh().settings
let authorization = ''
let service: Service

const started = (settings: Settings = {}) =>
  serve({ ...store, DUET_QUEUE_WAIT: '200', DUET_WRITE_WAIT: '5s', DUET_CACHE: '0', ...settings })

before(async () => {
  await seedMany(store, 500)
  const token = await mint({ sub: 1, role: 'admin', ttl: 86_400 }, secret, Date.now())
  authorization = `Authorization: Bearer ${token}`
  service = await started()
})
after(() => service?.end())

/** What else the machine does counts against a service: the first of three tries that holds is taken. */
const inThree = async (t: TestContext, attempt: () => Promise<void>): Promise<void> => {
  for (let tries = 1; tries < 3; tries++)
    try {
      return await attempt()
    } catch (error) {
      t.diagnostic(`once more: ${error}`)
    }
  await attempt()
}

/** Trees of about a millisecond or two, each another one than before. */
const reads = (): Group & { readonly name: 'reads' } => ({
  name: 'reads',
  connections: 32,
  patience,
  requests: Array.from({ length: 1000 }, (_, n) => {
    const query = `{ posts(limit: 10, offset: ${n * 4}) { id title author { name } comments(limit: 4) { id text author { name } } } }`
    const path = `/graphql?query=${encodeURIComponent(query)}`
    return { method: 'GET', path, headers: [authorization] }
  }),
})

/** How many of the trees it can serve in a second, with what else the machine does now. */
const peakOf = async ({ url }: Service): Promise<number> => {
  await flood(url, 1, [reads()])
  return (await flood(url, 4, [reads()])).reads.goodput
}

/** So many times what it can serve, over as many connections as would wait for seconds if nobody were refused. */
const crowd = async (t: TestContext, asked: Service, times: number, retries = 0) => {
  const { url } = asked
  const peak = await peakOf(asked)
  const connections = Math.min(4000, Math.ceil(peak * times * 2))
  const many = { ...reads(), rate: peak * times, connections, retries }
  const told = await flood(url, seconds, [many, probes])
  t.diagnostic(
    `${times} times ${peak.toFixed(0)} a second; ${line(told.reads)}; ${line(told.probes)}`,
  )
  assert.equal(told.probes.ok, sent(told.probes), 'all probes are answered')
  return { ...told.reads, peak }
}

/** What was asked, whether or not there was a connection for it. */
const asked = (told: Told) => sent(told) + told.unsent

const keeps = ({ goodput, peak, withoutRetryAfter }: Awaited<ReturnType<typeof crowd>>) => {
  assert.ok(goodput >= peak * leastKept, `${goodput} of ${peak} a second`)
  assert.equal(withoutRetryAfter, 0)
}

test('of twice what it can serve 95 % of the excess is refused with Retry-After, and one in a hundred waits in vain at most [H2]', t =>
  inThree(t, async () => {
    const told = await crowd(t, service, 2)
    keeps(told)
    const refused = told.statuses[503] ?? 0
    assert.ok(refused >= 0.95 * (asked(told) - told.ok), `${refused} of ${asked(told) - told.ok}`)
    assert.ok(inVain(told) <= 0.01 * asked(told), `${inVain(told)} of ${asked(told)}`)
  }))

for (const times of [5, 10])
  test(`at ${times} times what it can serve a service goes on serving, and all its probes are answered [H1, H11]`, t =>
    inThree(t, async () => keeps(await crowd(t, service, times))))

test('seconds after ten times what it can serve, from clients that try again at once, it serves as before [H3]', t =>
  inThree(t, async () => {
    const told = await crowd(t, service, 10, 3)
    keeps(told)
    const usual = { ...reads(), connections: 500, rate: told.peak / 2 }
    await flood(service.url, 5, [usual])
    const again = (await flood(service.url, seconds / 2, [usual])).reads
    t.diagnostic(line(again))
    assert.ok(again.ok >= 0.95 * asked(again), `${again.ok} of ${asked(again)}`)
  }))

// The control.
test('where nobody is refused, clients wait in vain at four times what it can serve [H2]', async t => {
  await service.end()
  service = await started({ DUET_QUEUE_WAIT: '60000', DUET_QUEUE_SIZE: '1000000' })
  await inThree(t, async () => {
    const told = await crowd(t, service, 4)
    assert.ok(inVain(told) > 0.05 * asked(told), `${inVain(told)} of ${asked(told)}`)
  })
})
