/** Sign-in in services that run, on either engine: kills, several processes or threads under load, and what they count together. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { folderOf, type Service, serve } from '#test/duet.ts'
import { sqliteTest as it, type Look, onPostgres } from '#test/stores.ts'
import { until } from '#test/support/wait.ts'
import { codeAsked, mailbox, send, signedIn, tokenStatus } from '../support/sign-in.ts'
import { peopleSecret } from '../world.ts'
import { signInRounds } from './sign-in-rounds.ts'

const { freshStore } = folderOf('sign-in')

/** In which codes and letters are counted, in milliseconds. */
const minute = 60_000

// On PostgreSQL it is killed at night: content/test/nightly/sign-in.test.ts.
it('kill -9 while people sign in and out loses no session, revives none and locks nobody out', async t => {
  const { settings } = await freshStore()
  const { kept, ended } = await signInRounds(2, settings)
  t.diagnostic(`${kept} sessions were there, ${ended} were ended`)
})

/** Two processes on PostgreSQL, two threads of one on SQLite; the codes of their people come by mail. */
describe('several that serve one store', () => {
  const services: Service[] = []
  let box: Awaited<ReturnType<typeof mailbox>>
  let rows: Look
  const urls = () => services.map(({ url }) => url)
  let turn = 0
  /** One after another. */
  const next = () => services[turn++ % services.length]?.url ?? ''
  /** Each from a network of its own. */
  const comes = (email: string) =>
    signedIn([next(), next()], box, email, undefined, `10.${turn >> 8}.${turn & 255}.1`)

  before(async () => {
    const { settings, ...store } = await freshStore()
    box = await mailbox()
    rows = store.rows
    const all = {
      ...settings,
      ...box.settings,
      DUET_RATE_LIMIT: '100000',
      DUET_TRUSTED_PROXIES: '127.0.0.1',
      DUET_PEOPLE_SECRET: peopleSecret,
      DUET_PUBLIC_URL: 'http://localhost:3000',
      DUET_THREADS: onPostgres ? '1' : '2',
    }
    for (let n = 0; n < (onPostgres ? 2 : 1); n++) services.push(await serve(all))
  })
  after(async () => {
    await Promise.all(services.map(service => service.end()))
    await box.close()
  })

  test('a session that is signed out in one of several is refused in all of them, while others sign in', async () => {
    let isOver = false
    const crowd = Array.from({ length: 2 }, async (_, at) => {
      let came = 0
      for (; !isOver; came++) {
        const session = await comes(`crowd${at}.${came}@example.org`)
        assert.equal(await tokenStatus(next(), session), 200)
      }
      return came
    })
    for (let n = 0; n < 3; n++) {
      const session = await comes(`goes${n}@example.org`)
      const given = await send(next(), 'GET /auth/token', { bearer: session })
      assert.equal(given.status, 200)
      const claims = JSON.parse(Buffer.from(given.json.token.split('.')[1], 'base64url').toString())
      const rename = (url: string) =>
        send(url, `PATCH /api/users/${claims.sub}`, {
          bearer: given.json.token,
          body: { name: `Goes ${n}` },
        })
      // A key that one of them has just made is known to the others.
      for (const url of urls()) assert.equal((await rename(url)).status, 200)
      const out = await send(next(), 'POST /auth/sign-out', { bearer: session, body: {} })
      assert.equal(out.status, 200)
      for (const url of [...urls(), ...urls()]) {
        assert.equal(await tokenStatus(url, session), 401)
        assert.equal((await rename(url)).status, 403)
      }
    }
    isOver = true
    const came = await Promise.all(crowd)
    assert.ok(
      came.every(count => count > 0),
      `${came}`,
    )
  })

  test('codes for one network, and letters to one address, are counted over all of them', async () => {
    const ask = async (email: string, from: string) =>
      (await send(next(), codeAsked, { body: { email, type: 'sign-in' }, from })).status
    // What takes longer than the minute that is counted is tried again, with another network and another address.
    for (let turn = 0, isCounted = false; !isCounted; turn++) {
      assert.ok(turn < 5, 'nothing was counted within a minute, five times')
      const begun = performance.now()
      const ofOneNetwork = await Promise.all(
        Array.from({ length: 30 }, (_, n) => ask(`one${turn}.${n}@example.org`, `192.0.${turn}.1`)),
      )
      isCounted = performance.now() - begun < minute
      if (isCounted)
        assert.deepEqual(ofOneNetwork.toSorted(), [...Array(10).fill(200), ...Array(20).fill(429)])
    }
    for (let turn = 0, isCounted = false; !isCounted; turn++) {
      assert.ok(turn < 5, 'nothing was counted within a minute, five times')
      const begun = performance.now()
      const address = `many${turn}@example.org`
      const count = 12 + turn
      const toOneAddress = await Promise.all(
        Array.from({ length: count }, (_, n) => ask(address, `198.51.${turn}.${n}`)),
      )
      assert.deepEqual(toOneAddress, Array(count).fill(200))
      const counted = "select max(count) from auth_rates where key like 'mail 60 %'"
      await until('all are counted, or the minute is over', async () => {
        isCounted = Number((await rows(counted))[0]?.[0]) === count
        return isCounted || performance.now() - begun >= minute
      })
      if (!isCounted) continue
      await until('a letter comes', () => box.lettersTo(address) > 0)
      assert.equal(box.lettersTo(address), 1)
    }
  })
})
