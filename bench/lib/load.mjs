/** Sends one request over and over, on 32 connections or as many as asked from one thread, and gives rate and latency. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { cores, finish } from './processes.mjs'

const script = name => fileURLToPath(new URL(name, import.meta.url))

const tools = {
  wrk: (connections, seconds, url) => [
    'wrk',
    [
      '-t1',
      `-c${connections}`,
      `-d${seconds}s`,
      '--latency',
      '--timeout',
      '10s',
      '-s',
      script('wrk.lua'),
      url,
    ],
  ],
  autocannon: (connections, seconds, url) => [
    process.execPath,
    [script('autocannon.mjs'), connections, seconds, url],
  ],
  // Its second argument is how many requests are sent.
  counted: (connections, requests, url) => [
    process.execPath,
    [script('counted.mjs'), connections, requests, url],
  ],
}

/** The tool to use: the one asked for, else the one that is here. */
export const chooseTool = asked => asked ?? (spawnSync('wrk', ['-v']).error ? 'autocannon' : 'wrk')

/** One measurement of so many seconds, or of so many requests where they are counted; an answer that is neither 2xx nor 304, or none, fails it. */
export async function load(
  tool,
  { url, method, body, ifNoneMatch, token },
  amount,
  connections = 32,
) {
  const env = { ...process.env, BENCH_METHOD: method, BENCH_TOKEN: token }
  if (body) env.BENCH_BODY = body
  if (ifNoneMatch) env.BENCH_IF_NONE_MATCH = ifNoneMatch
  const [command, args] = tools[tool](connections, amount, url)
  const out = await finish(command, args, { core: cores.load, env })
  const { requests, failed, seconds: took, p50, p99 } = JSON.parse(out.trim().split('\n').at(-1))
  if (failed > 0 || requests === 0)
    throw new Error(`${failed} of ${requests} requests failed: ${method} ${url}`)
  return { requests, rate: requests / took, p50, p99 }
}
