/** Files through the whole service: a large one beside plain streams of Node that hash and flush too, point reads beside uploads, kept pictures, and the memory of transfers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { allocator, patient, young } from './duet.mjs'
import { inFolder } from './on-copy.mjs'
import { finish, residentMemory } from './processes.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const beside = name => fileURLToPath(new URL(name, import.meta.url))
const imports = new URL('../../src/base/resolve-imports.ts', import.meta.url).href
const sizes = { full: 1_000_000_000, small: 100_000_000 }
const chunk = Buffer.alloc(65_536, 'b\0\x01nch')
const [uploads, transfers] = [50, 200]
/** Bytes in a second of each of those: what is sent to one server from two processors is no more. */
const pace = { upload: 1_000_000, transfer: 100_000 }

/** What `--only` takes. */
export const names = ['large', 'beside', 'sizes', 'memory']

const content = `
import { defineContent, defineModel } from 'duet'
import { anyone, defineRoles, entity, file, id, revision, text } from 'duet/model'
const shelf = entity({
  table: 'shelves', plural: 'shelves', description: 'A place of files.',
  fields: {
    id: id(), name: text({ max: 40 }), revision: revision(),
    file: file({ accept: ['application/octet-stream'], max: '2 GB', nullable: true }),
    picture: file({ accept: ['image/png'], max: '5 MB', sizes: [320], exif: 'kept', nullable: true }),
  },
  policy: { read: anyone, create: anyone, update: anyone },
  rest: { one: true, writes: ['create', 'update'] },
})
const roles = defineRoles({ names: ['user', 'admin'], default: 'user', superuser: 'admin' })
export default defineContent({
  entities: defineModel({ shelf }), viewers: { entity: 'shelf', roles },
  migrations: new URL('./migrations/', import.meta.url),
})
`

const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** Processor time that a process took until now, in seconds (Linux); undefined where the system does not say. */
const processorOf = pid => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return undefined
  }
}

/** Sends a body by PUT, so many bytes and in a second so many at most; gives the answer's text. */
async function send(
  { url, headers = {}, localAddress },
  bytes,
  seed,
  rate = Number.POSITIVE_INFINITY,
) {
  const asked = request(url, { method: 'PUT', agent: false, headers, localAddress })
  const answered = once(asked, 'response')
  // Who is refused before its end is told by the answer.
  asked.on('error', () => {})
  const begun = performance.now()
  asked.write(Buffer.from(`\0\x01${seed}`.padEnd(20)))
  for (let sent = 20; sent < bytes; sent += chunk.length) {
    const early = (sent / rate) * 1000 - (performance.now() - begun)
    if (early > 0) await sleep(early)
    if (asked.destroyed) break
    if (!asked.write(chunk.subarray(0, bytes - sent)))
      await Promise.race([once(asked, 'drain'), answered])
  }
  asked.end()
  const [answer] = await answered
  const text = (await answer.toArray()).join('')
  if (answer.statusCode > 299) throw new Error(`${answer.statusCode} ${text}`)
  return text
}

/** Reads a file to its end; gives its bytes, or how many there are. */
async function receive(url, isKept = false) {
  const asked = request(url, { agent: false }).end()
  const [answer] = await once(asked, 'response')
  if (answer.statusCode > 299) throw new Error(`${answer.statusCode} of ${url}`)
  if (isKept) return Buffer.concat(await answer.toArray())
  let bytes = 0
  for await (const part of answer) bytes += part.length
  return bytes
}

/** What was measured, each by its name and with what is wanted. */
const measured = () => {
  const figures = {}
  return {
    figures,
    keep: (name, value, wanted) => {
      figures[name] ??= { values: [], wanted }
      figures[name].values.push(value)
    },
    tell: () => {
      for (const [name, { values, wanted }] of Object.entries(figures)) {
        const range = `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`
        const told = `${median(values).toFixed(2).padStart(8)} (${range}; wanted ${wanted})`
        console.log(`${name.padEnd(56)}${told}`)
      }
    },
  }
}

/** Starts a server of its own, `plain` or by the folder of files alone, with the settings of memory that the service has. */
async function startServer(kind, folder) {
  mkdirSync(folder)
  const args = [young, `--import=${imports}`, beside('file-server.mjs'), kind, folder]
  const env = { ...process.env, ...allocator, NODE_ENV: 'production' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(createInterface(child.stdout), 'line')
  const url = `http://127.0.0.1:${port}`
  const stop = () => void child.kill()
  return { kind, put: { url }, get: digest => `${url}/${digest}`, pid: child.pid, folder, stop }
}

/** A large file to each in turns and back, so that what else the machine does meets all. */
async function large(options, { service, folder, keep }) {
  const bytes = sizes[options.data]
  const plain = await startServer('plain', join(folder, 'plain'))
  const store = await startServer('duet', join(folder, 'store'))
  const address = `${service.url}/api/shelves/1/file`
  const whole = {
    ...{ kind: 'service', put: { url: address, headers: service.headers }, get: () => address },
    ...{ pid: service.pid, folder: service.files },
  }
  const all = [plain, store, whole]
  const took = Object.fromEntries(all.map(({ kind }) => [kind, []]))
  try {
    // The first round warms them.
    for (let round = -1; round < options.rounds; round++)
      for (const one of round % 2 ? all.toReversed() : all) {
        const marks = [[performance.now(), processorOf(one.pid)]]
        const mark = () => marks.push([performance.now(), processorOf(one.pid)])
        const digest = await send(one.put, bytes, `${one.kind} ${round}`)
        mark()
        const got = await receive(one.get(digest))
        mark()
        if (got !== bytes) throw new Error(`${one.kind} gave ${got} bytes of ${bytes}`)
        if (round >= 0) took[one.kind].push(marks)
        for (const entry of readdirSync(one.folder, { recursive: true, withFileTypes: true }))
          if (entry.isFile()) rmSync(join(entry.parentPath, entry.name))
      }
  } finally {
    for (const { stop } of [plain, store]) stop()
  }
  for (let round = 0; round < options.rounds; round++)
    for (const kind of ['duet', 'service'])
      for (const [at, way] of ['up', 'down'].entries()) {
        const name = `1 file ${way}, ${kind === 'duet' ? 'the folder' : 'the service'}, × plain`
        const spent = (who, what) => took[who][round][at + 1][what] - took[who][round][at][what]
        keep(`${name}, rate`, spent('plain', 0) / spent(kind, 0), '0.8')
        keep(`${name}, processor`, spent('plain', 1) / spent(kind, 1), '0.8')
      }
}

/** The time below which all but one in a hundred of the reads of one row are answered, in milliseconds. */
const p99 = async (url, requests, connections = 4) => {
  const args = [beside('counted.mjs'), String(connections), String(requests), url]
  const env = { ...process.env, BENCH_METHOD: 'GET' }
  const told = JSON.parse(await finish(process.execPath, args, { env }))
  if (told.failed > 0) throw new Error(`${told.failed} reads of ${url} failed`)
  return told
}

/** Point reads alone, and beside 50 who send. */
async function besideUploads(options, { service, keep, addShelves }) {
  const url = `${service.url}/api/shelves/1`
  const ids = await addShelves(uploads)
  const reads = 3000
  await p99(url, reads)
  for (let round = 0; round < options.rounds; round++) {
    const idle = await p99(url, reads)
    let isOver = false
    const sending = ids.map(async id => {
      const put = { url: `${service.url}/api/shelves/${id}/file`, headers: service.headers }
      for (let at = 0; !isOver; at++)
        await send(put, 2 * pace.upload, `${id} ${round} ${at}`, pace.upload)
    })
    const busy = await p99(url, reads)
    isOver = true
    await Promise.all(sending)
    keep(`p99 of point reads beside ${uploads} uploads, × alone`, busy.p99 / idle.p99, '2')
  }
}

/** A size of a picture that is kept, and the same bytes as a file of their own, in turns. */
async function keptSizes(options, { service, keep }) {
  const { default: sharp } = await import('sharp')
  const noise = { type: 'gaussian', mean: 128, sigma: 30 }
  const create = { width: 1200, height: 800, channels: 3, noise }
  const picture = await sharp({ create }).png().toBuffer()
  const put = async (id, body) => {
    const asked = { method: 'PUT', body, headers: { 'Content-Type': 'image/png' } }
    const answer = await fetch(`${service.url}/api/shelves/${id}/picture`, asked)
    if (!answer.ok) throw new Error(await answer.text())
  }
  await put(1, picture)
  const kept = `${service.url}/api/shelves/1/picture?w=320`
  await put(2, await receive(kept, true))
  const whole = `${service.url}/api/shelves/2/picture`
  const requests = 1500
  await p99(kept, requests)
  await p99(whole, requests)
  for (let round = 0; round < options.rounds; round++) {
    const [one, other] = [await p99(kept, requests), await p99(whole, requests)]
    keep('a kept size, × the rate of a file of these bytes', other.seconds / one.seconds, '0.9')
  }
}

/**
 * What one transfer takes, and each of 200 that go on at once. A lone round may meet a step of V8's space for young objects, of some
 * MiB, which a service has once: beside it the bytes that a transfer holds stay within half a MiB for all of its gigabyte.
 */
async function memoryOfTransfers(options, { service, keep, addShelves }) {
  const bytes = sizes[options.data]
  const ids = await addShelves(transfers)
  // One caller may take half of the memory for bodies.
  const putOf = id => ({
    ...{ url: `${service.url}/api/shelves/${id}/file`, headers: service.headers },
    localAddress: `127.0.0.${2 + (id % 8)}`,
  })
  const mostDuring = async work => {
    const before = residentMemory(service.pid)
    let most = before
    const look = setInterval(() => {
      most = Math.max(most, residentMemory(service.pid))
    }, 20)
    await work()
    clearInterval(look)
    return (most - before) / 1_048_576
  }
  await send(putOf(1), bytes, 'to warm it')
  for (let round = 0; round < options.rounds; round++) {
    const one = await mostDuring(() => send(putOf(1), bytes, `alone ${round}`))
    keep('MiB that a transfer takes', one, '1')
    const all = await mostDuring(() =>
      Promise.all(
        ids.map(id => send(putOf(id), 4 * pace.transfer, `${id} ${round}`, pace.transfer)),
      ),
    )
    keep(`MiB that each of ${transfers} transfers takes`, all / transfers, '1')
  }
}

const rows = { large, beside: besideUploads, sizes: keptSizes, memory: memoryOfTransfers }

/** `npm run bench -- files`. */
export async function benchFiles(options, { duet, log }) {
  const { figures, keep, tell } = measured()
  await inFolder(async folder => {
    const config = join(folder, 'duet.config.ts')
    mkdirSync(join(folder, 'node_modules'))
    mkdirSync(join(folder, 'migrations'))
    symlinkSync(root, join(folder, 'node_modules/duet'))
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    writeFileSync(config, content)
    const file = join(folder, 'duet.db')
    const named = ['--config', config]
    await duet.command(file, ['migrate', '--draft', 'first', ...named])
    const more = { ...patient, DUET_WRITE_WAIT: '60s', DUET_THREADS: '1' }
    const server = await duet.serve(file, log('duet'), more, ['--migrate', ...named])
    const headers = { 'Content-Type': 'application/octet-stream' }
    const service = { ...server, headers, files: join(folder, 'files') }
    const addShelves = count =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const body = JSON.stringify({ name: 'A shelf' })
          const asked = { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }
          const answer = await fetch(`${server.url}/api/shelves`, asked)
          if (!answer.ok) throw new Error(await answer.text())
          return (await answer.json()).id
        }),
      )
    try {
      await addShelves(2)
      for (const [name, row] of Object.entries(rows))
        if (options.only.length === 0 || options.only.includes(name))
          await row(options, { service, folder, keep, addShelves })
    } finally {
      await server.stop()
      tell()
    }
  })
  if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`)
}
