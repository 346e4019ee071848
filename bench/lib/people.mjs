/** What sign-in costs and tells: a read in this process with our token beside one with a shared secret, content during the first sign-in and during many, memory, and a known address beside an unknown one. All but the first on a copy of the store, with mail that a server on loopback takes. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import { percentiles } from './answers.mjs'
import { prepare } from './dataset.mjs'
import { patient } from './duet.mjs'
import { median } from './measure.mjs'
import { inFolder } from './on-copy.mjs'
import { flood, pointReads } from './overload.mjs'
import { residentMemory } from './processes.mjs'

/** Names to choose from by `--only`. */
export const names = ['token', 'first', 'others', 'address']

/** So many reads with one token before it is the turn of the other. */
const inTurn = 640
const others = 200
/** So many fresh services in each round, since each has one first sign-in. */
const services = 5
/** So many a second that the core of the service has time left: what waits for a core that has none says nothing of sign-in. */
const readsPerSecond = 200
const signInsPerSecond = 10
const asked = 2000

/** Runs what is asked for, each on a service of its own. */
export async function benchPeople(options, { duet, log }) {
  const { files, facts } = await prepare(duet, options)
  const mail = await mailServer()
  const found = {}
  const is = name => options.only.length === 0 || options.only.includes(name)
  try {
    await inFolder(async folder => {
      const store = join(folder, 'duet.db')
      copyFileSync(files.all, store)
      const settings = {
        DUET_PEOPLE_SECRET: randomBytes(48).toString('base64'),
        DUET_PUBLIC_URL: 'http://localhost:3000',
        DUET_SMTP_URL: mail.url,
        DUET_MAIL_FROM: 'bench@example.org',
        // Each caller comes from a network of its own, or all but the first few of a minute are refused.
        DUET_TRUSTED_PROXIES: '127.0.0.1',
        DUET_SIGNUP_RATE: '1000000',
        ...duet.uncached,
        ...patient,
      }
      const served = async (more, use) => {
        const server = await duet.serve(store, log('people'), { ...settings, ...more })
        try {
          return await use(server)
        } finally {
          await server.stop()
          // The next is found by the first address in it.
          server.emptyLog()
        }
      }
      const ofRow = { duet, store, facts }
      if (is('token')) found.token = await tokens(options.rounds)
      /** One after another, each on a fresh service. */
      const inTurns = async (count, use) => {
        const told = []
        for (let round = 0; round < count; round++)
          told.push(await served({}, server => use(server, mail, ofRow)))
        return told
      }
      if (is('first')) {
        // The first of all has this process learn how to sign in, which is no matter of the service.
        await inTurns(1, server => signIn(server, mail, 'nobody-before@example.org'))
        found.first = firstOf(await inTurns(options.rounds * services, first))
      }
      if (is('others')) found.others = othersOf(await inTurns(options.rounds, manySignIns))
      if (is('address'))
        found.address = await served({ DUET_SIGNUP: 'closed' }, server => address(server, store))
    })
    if (options.json) writeFileSync(options.json, `${JSON.stringify(found, null, 2)}\n`)
  } finally {
    mail.close()
  }
}

/** A mail server that keeps the codes by the address. */
async function mailServer() {
  const codes = new Map()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) =>
      text(stream).then(raw => {
        for (const { address } of session.envelope.rcptTo)
          codes.set(address, /^Subject: (\d{8})/m.exec(raw)?.[1])
        done()
      }, done),
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    url: `smtp://127.0.0.1:${server.server.address().port}`,
    code: async address => {
      while (!codes.has(address)) await new Promise(done => setTimeout(done, 5))
      return codes.get(address)
    },
    close: () => server.close(),
  }
}

let networks = 0

async function post({ url }, path, body, more = {}) {
  const network = networks++
  const response = await fetch(`${url}/auth${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Forwarded-For': `10.${(network >> 16) & 255}.${(network >> 8) & 255}.${network & 255}`,
      ...more,
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const askCode = (server, email) =>
  post(server, '/email-otp/send-verification-otp', { email, type: 'sign-in' })

async function signIn(server, mail, email) {
  await askCode(server, email)
  const { status, text } = await post(server, '/sign-in/email-otp', {
    email,
    otp: await mail.code(email),
  })
  if (status !== 200) throw new Error(`${email} could not sign in: ${text}`)
}

const line = (what, value, wanted) => console.log(`${what.padEnd(58)}${value}, wanted: ${wanted}`)

/** The processor time of the thread that reads a row, with our token, a shared secret's, and a shared secret's as long as ours, all of the same person: in turns so short that what else the machine does is in all alike. */
async function tokens(rounds) {
  process.env.DUET_TEST_CACHE = '0'
  const { createWorld } = await import('../../content/test/world.ts')
  const { signIn } = await import('../../content/test/support/visitor.ts')
  const { secret } = await import('../../test/asking.ts')
  const { mint } = await import('../../src/auth/token.ts')
  const world = await createWorld({ on: 'sqlite', development: false, people: {} })
  try {
    const { by, id } = await signIn(world, 'bench@example.org')
    const ours = await by.bearer()
    const short = await world.token(Number(id))
    // A header of more bytes costs more to take in, whoever signed it, so the third token tells what the signer costs.
    const claims = { more: 'x'.repeat(((ours.authorization.length - short.length) * 3) / 4 - 20) }
    const long = await mint(
      { sub: Number(id), role: 'user', ttl: 3600, claims },
      secret,
      Date.now(),
    )
    const headers = {
      secret: { authorization: `Bearer ${short}` },
      long: { authorization: `Bearer ${long}` },
      ours,
    }
    const kinds = Object.keys(headers)
    const measure = async kind => {
      const before = process.threadCpuUsage()
      for (let done = 0; done < inTurn; done += 32)
        await Promise.all(
          Array.from({ length: 32 }, () =>
            world.app.request(`/api/users/${id}`, { headers: headers[kind] }),
          ),
        )
      const { user, system } = process.threadCpuUsage(before)
      return (user + system) / inTurn
    }
    const micros = { secret: [], long: [], ours: [] }
    // The first rounds only warm up.
    for (let round = -10; round < rounds * 20; round++)
      for (const kind of round % 2 ? kinds : kinds.toReversed()) {
        const took = await measure(kind)
        if (round >= 0) micros[kind].push(took)
      }
    // Whatever else the machine does only adds: a tenth of the turns were hardly disturbed.
    const least = kind =>
      micros[kind].toSorted((a, b) => a - b)[Math.floor(micros[kind].length / 10)]
    const ratio = least('secret') / least('ours')
    const alike = least('long') / least('ours')
    line('a row read with our token against a shared secret', `${ratio.toFixed(3)} ×`, '0.98 ×')
    line('  the same, both headers of one length', `${alike.toFixed(3)} ×`, '0.98 ×')
    console.log(
      kinds
        .map(
          kind =>
            `  ${kind}: ${headers[kind].authorization.length} bytes, ${least(kind).toFixed(1)} µs of processor in the least disturbed of ${micros[kind].length} turns, median ${median(micros[kind]).toFixed(1)} µs`,
        )
        .join('\n'),
    )
    return { ratio, alike, micros }
  } finally {
    await world.close()
  }
}

/** Point reads at a rate of their own. */
const readsAt = async (server, { duet, store, facts }, more = {}) => {
  const token = await duet.token(store)
  const group = { name: 'reads', rate: readsPerSecond, connections: 64, ...more }
  return async seconds =>
    (await flood(server, token, seconds, [{ ...group, requests: pointReads(facts) }])).reads
}
const since1970 = () => performance.timeOrigin + performance.now()

/** So long the processor of another process has work, in milliseconds: about as long as that of the first sign-in. */
const took = 400
const spin = milliseconds => {
  const code = `const end = performance.now() + ${milliseconds}; while (performance.now() < end);`
  return once(spawn(process.execPath, ['-e', code], { stdio: 'ignore' }), 'exit')
}

/** What reads took beside a process that only spins, and during the first sign-in, which has the library loaded, and before and after it; and the memory that it takes. */
async function first(server, mail, ofRow) {
  const reads = await readsAt(server, ofRow, { isKept: true })
  await reads(2)
  const memory = residentMemory(server.pid)
  const underWay = reads(9)
  await sleep(2000)
  const spinBegan = since1970()
  await spin(took)
  const spinEnded = since1970()
  await sleep(2000)
  const began = since1970()
  await signIn(server, mail, `first-${randomBytes(6).toString('hex')}@example.org`)
  const ended = since1970()
  const grown = residentMemory(server.pid) - memory
  const { kept } = await underWay
  const within = (from, to) => kept.flatMap(([at, took]) => (at >= from && at < to ? [took] : []))
  // What was sent just before may wait for it too.
  const idle = [
    ...within(0, spinBegan - 100),
    ...within(spinEnded + 1000, began - 100),
    ...within(ended + 1000, Number.POSITIVE_INFINITY),
  ]
  const spun = within(spinBegan, spinEnded)
  return { idle, spun, during: within(began, ended), took: ended - began, grown }
}

const mib = bytes => `${(bytes / 2 ** 20).toFixed(0)} MiB`
const ms = value => `${value.toFixed(1)} ms`

function firstOf(rounds) {
  const of = pick => median(rounds.map(pick))
  const [idle, spun, during] = ['idle', 'spun', 'during'].map(of =>
    percentiles(rounds.flatMap(round => round[of])),
  )
  const sent = rounds.reduce((sum, { during }) => sum + during.length, 0)
  line(
    `p99 of content, idle and during the first sign-in of ${rounds.length}`,
    `${ms(idle.p99)} and ${ms(during.p99)}`,
    'as idle',
  )
  console.log(`  p99 beside a process that has nothing of sign-in and only spins: ${ms(spun.p99)}`)
  console.log(
    `  medians ${ms(idle.p50)} and ${ms(during.p50)}; ${sent} reads during ${of(({ took }) => took).toFixed(0)} ms each`,
  )
  const grown = of(({ grown }) => grown)
  line('memory that the first sign-in takes', `+ ${mib(grown)}`, '75 MiB at most')
  return { idle, spun, during, sent, took: of(({ took }) => took), grown }
}

/** Reads alone and while many sign in; and what memory these take. */
async function manySignIns(server, mail, ofRow) {
  const reads = await readsAt(server, ofRow)
  await reads(2)
  const idle = await reads(12)
  const memory = residentMemory(server.pid)
  const beside = reads(others / signInsPerSecond + 2)
  const name = randomBytes(6).toString('hex')
  const all = []
  for (let at = 0; at < others; at++) {
    all.push(signIn(server, mail, `${name}-${at}@example.org`))
    await sleep(1000 / signInsPerSecond)
  }
  await Promise.all(all)
  const { p99 } = await beside
  return { idle: idle.p99, busy: p99, grown: residentMemory(server.pid) - memory }
}

function othersOf(rounds) {
  const of = pick => median(rounds.map(pick))
  line(
    `p99 of content, idle and beside ${signInsPerSecond} sign-ins a second`,
    `${ms(of(({ idle }) => idle))} and ${ms(of(({ busy }) => busy))}`,
    'as idle',
  )
  console.log(`  + ${mib(of(({ grown }) => grown))} after ${others} of them`)
  return { rounds }
}

/** Addresses of rows that are there. */
function emailsOf(store, count) {
  const database = new DatabaseSync(store, { readOnly: true })
  const rows = database.prepare('select email from users order by id limit ?').all(count)
  database.close()
  return rows.map(({ email }) => email)
}

/** Codes asked for known and for unknown addresses, in an order that nobody can foresee: what is answered, and when. */
async function address(server, store) {
  const known = emailsOf(store, asked)
  const all = known
    .flatMap((email, at) => [
      { kind: 'known', email },
      { kind: 'unknown', email: `nobody-${at}@example.org` },
    ])
    .map(one => ({ ...one, by: Math.random() }))
    .toSorted((one, other) => one.by - other.by)
  const took = { known: [], unknown: [] }
  const answers = { known: new Set(), unknown: new Set() }
  for (const { email } of all.slice(0, 50)) await askCode(server, `warm-${email}`)
  for (const { kind, email } of all) {
    const began = performance.now()
    const { status, headers, text } = await askCode(server, email)
    took[kind].push(performance.now() - began)
    const varies = ['date', 'x-request-id', 'ratelimit']
    const told = [...headers].filter(([name]) => !varies.includes(name))
    answers[kind].add(JSON.stringify([status, told, text]))
  }
  const isSame = JSON.stringify([...answers.known]) === JSON.stringify([...answers.unknown])
  const [one, other] = [median(took.known), median(took.unknown)]
  const ratio = one / other
  line(
    `a code for a known address and an unknown one, ${known.length} each`,
    `${one.toFixed(2)} ms and ${other.toFixed(2)} ms, ${ratio.toFixed(3)} ×`,
    '0.95 to 1.05 ×',
  )
  console.log(`  the answers are ${isSame ? 'the same' : 'NOT the same'}`)
  return { known: one, unknown: other, ratio, isSame, answers: [...answers.known] }
}
