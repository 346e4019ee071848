/** A large file through the folder of files, both ways, beside plain streams of Node that hash and flush too; without rows and rights. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { inFolder } from './on-copy.mjs'

const program = fileURLToPath(new URL('file-server.mjs', import.meta.url))
const imports = new URL('../../src/base/resolve-imports.ts', import.meta.url).href
const sizes = { full: 1_000_000_000, small: 100_000_000 }
const wanted = 0.8
const chunk = Buffer.alloc(65_536, 'bench')

/** Sends so many bytes; gives the answer's text. */
async function send(port, bytes, seed) {
  const asked = request({ port, host: '127.0.0.1', method: 'PUT', path: '/' })
  const answered = once(asked, 'response')
  asked.write(`${seed}`.padEnd(20))
  for (let sent = 20; sent < bytes; sent += chunk.length)
    if (!asked.write(chunk.subarray(0, bytes - sent))) await once(asked, 'drain')
  asked.end()
  const [answer] = await answered
  return (await answer.toArray()).join('')
}

/** Reads a file to its end; gives its length. */
async function receive(port, digest) {
  const asked = request({ port, host: '127.0.0.1', path: `/${digest}` }).end()
  const [answer] = await once(asked, 'response')
  let bytes = 0
  for await (const part of answer) bytes += part.length
  return bytes
}

const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** `npm run bench -- files`. */
export async function benchFiles(options) {
  const bytes = sizes[options.data]
  const rates = { plain: { up: [], down: [] }, duet: { up: [], down: [] } }
  await inFolder(async folder => {
    const servers = await Promise.all(
      Object.keys(rates).map(async kind => {
        const own = join(folder, kind)
        mkdirSync(own)
        const args = [`--import=${imports}`, program, kind, own]
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
        const [port] = await once(createInterface(child.stdout), 'line')
        return { kind, child, port: Number(port) }
      }),
    )
    try {
      // Each in turns, so that what else the machine does meets both.
      for (let round = 0; round < options.rounds; round++)
        for (const { kind, port } of round % 2 ? servers.toReversed() : servers) {
          const begun = performance.now()
          const digest = await send(port, bytes, `${kind} ${round}`)
          const sent = performance.now()
          const got = await receive(port, digest)
          if (got !== bytes) throw new Error(`${kind} gave ${got} bytes of ${bytes}`)
          rates[kind].up.push(bytes / 1000 / (sent - begun))
          rates[kind].down.push(bytes / 1000 / (performance.now() - sent))
        }
    } finally {
      for (const { child } of servers) child.kill()
    }
  })
  const results = ['up', 'down'].map(way => {
    const [plain, duet] = ['plain', 'duet'].map(kind => median(rates[kind][way]))
    return { way, plain, duet, ratio: duet / plain }
  })
  for (const { way, plain, duet, ratio } of results)
    console.log(
      `${way.padEnd(5)} plain ${plain.toFixed(0).padStart(6)} MB/s   duet ${duet.toFixed(0).padStart(6)} MB/s   ${ratio.toFixed(2)} × (wanted ${wanted})`,
    )
  if (options.json)
    writeFileSync(options.json, `${JSON.stringify({ bytes, rates, results }, null, 2)}\n`)
}
