/** All kinds of abuse at once, while others use the service as it is meant: it lives, stays small, and keeps what it acknowledged. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { mint } from '#auth/token.ts'
import { folderOf, type Service, serve, testThreads } from '#test/duet.ts'
import { pause, until } from '#test/support/wait.ts'
import { checkInvariants } from '../store/invariants.ts'
import { secret } from '../world.ts'
import { attack, type Target } from './abuse/attacks.ts'
import { seedMany } from './seed-many.ts'

/** What a service may take after two minutes, in MiB: before, its first long answers are made all at once. Several threads may have what `auto` leaves each. */
const mostResident = Math.max(350, 256 * testThreads)
const minutes = Number(process.env.DUET_TEST_ABUSE_MINUTES ?? 10)
const { fresh } = folderOf('abuse')

/** What a process has in memory, in MiB. */
const residentOf = ({ child }: Service): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024

type Well = { readonly posts: Set<string>; refused: number; probes: number; late: number }

/** Writes posts and asks for life, as a client would that knows nothing of the others. */
const behave = async (
  { url }: Service,
  authorization: string,
  isOver: () => boolean,
): Promise<Well> => {
  const well: Well = { posts: new Set(), refused: 0, probes: 0, late: 0 }
  for (let n = 0; !isOver(); n++) {
    const title = `kept-${n}`
    const response = await fetch(`${url}/api/users/1/posts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', authorization, 'Idempotency-Key': title },
      body: JSON.stringify({ title, content: 'as it was' }),
    })
    await response.body?.cancel()
    if (response.status === 201) well.posts.add(title)
    else {
      assert.equal(response.status, 503)
      well.refused++
    }
    const asked = performance.now()
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    well.probes++
    if (performance.now() - asked > 1000) well.late++
    await pause(100)
  }
  return well
}

const abuse = async (t: TestContext, settings: Readonly<Record<string, string>>) => {
  const { file, rows, settings: store } = fresh()
  await seedMany(store, 1000)
  const database = new DatabaseSync(file)
  database.exec(`update posts set content = '${'ẞ'.repeat(100_000)}' where id > 4950`)
  database.close()
  const service = await serve({
    ...store,
    DUET_QUEUE_WAIT: '1000',
    DUET_WRITE_WAIT: '5s',
    DUET_READ_TIMEOUT: '5000',
    ...settings,
  })
  const authorization = `Bearer ${await mint({ sub: 1, role: 'admin', ttl: 86_400 }, secret, Date.now())}`
  let end = performance.now() + minutes * 60_000
  const isOver = () => performance.now() > end || service.child.exitCode !== null
  const target: Target = { port: service.port, authorization, isOver, statuses: new Map() }
  const samples: number[] = []
  const sampling = setInterval(() => samples.push(residentOf(service)), 1000)
  try {
    const [well] = await Promise.all([behave(service, authorization, isOver), attack(target)])
    clearInterval(sampling)
    assert.equal(service.child.exitCode, null, service.stderr())
    await until(
      'it is ready when all is over',
      async () => (await fetch(`${service.url}/readyz`)).ok,
    )
    return { service, rows, well, samples, statuses: target.statuses, end: () => service.end() }
  } finally {
    end = 0
    clearInterval(sampling)
    if (service.child.exitCode === null)
      t.diagnostic(service.stderr().split('\n').slice(8).join('\n').slice(0, 2000))
  }
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length

const whole = async (
  t: TestContext,
  { service, rows, well, samples, statuses }: Awaited<ReturnType<typeof abuse>>,
) => {
  const answered = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
  t.diagnostic(
    `${minutes} minutes; ${answered.join(', ')}; ${well.posts.size} posts of a good client acknowledged, ${well.refused} refused; ${well.late} of ${well.probes} probes above 1 s`,
  )
  t.diagnostic(
    `MiB resident, each minute: ${samples
      .filter((_, n) => n % 60 === 0)
      .map(Math.round)
      .join(
        ' ',
      )}; at most ${Math.round(Math.max(...samples))}, after two minutes ${Math.round(mean(warmOf(samples)))} in the mean, at most ${Math.round(Math.max(...warmOf(samples)))}`,
  )
  assert.deepEqual(
    [...statuses.keys()].filter(status => status >= 500 && status !== 503),
    [],
  )
  assert.equal((await service.end()).code, 0)
  await checkInvariants(rows)
  const kept = new Set(
    (await rows("select title from posts where title like 'kept-%'")).map(([title]) =>
      String(title),
    ),
  )
  assert.deepEqual(
    [...well.posts].filter(title => !kept.has(title)),
    [],
  )
}

/** The samples after two minutes, or of the second half of a shorter run. */
const warmOf = (samples: readonly number[]) => samples.slice(Math.min(120, samples.length / 2))

test(`${minutes} minutes of mixed abuse lose nothing, and take ${mostResident} MiB in the mean after two minutes and no more in the end than then [A22]`, async t => {
  const found = await abuse(t, {})
  await whole(t, found)
  const warm = warmOf(found.samples)
  const half = Math.floor(warm.length / 2)
  assert.ok(mean(warm) <= mostResident, `${mean(warm)} MiB`)
  assert.ok(mean(warm.slice(half)) <= 1.2 * mean(warm.slice(0, half)))
})

test(`${minutes} minutes of mixed abuse find a service with a heap of 256 MiB alive, in ${mostResident} MiB in the mean after two minutes [A23]`, async t => {
  const found = await abuse(t, {
    NODE_OPTIONS: '--max-old-space-size=256 --max-semi-space-size=8',
  })
  await whole(t, found)
  const warm = mean(warmOf(found.samples))
  assert.ok(warm <= mostResident, `${warm} MiB`)
})
