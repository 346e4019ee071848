/** Stands in for wrk: the same request from the same environment, the same line of JSON. Usage: autocannon.mjs CONNECTIONS SECONDS URL */
import autocannon from 'autocannon'

const [connections, seconds, url] = process.argv.slice(2)
const { BENCH_METHOD: method, BENCH_BODY: body, BENCH_TOKEN: token } = process.env
const { BENCH_IF_NONE_MATCH: ifNoneMatch } = process.env

const result = await autocannon({
  url,
  method,
  body,
  connections: Number(connections),
  duration: Number(seconds),
  headers: {
    authorization: `Bearer ${token}`,
    ...(body && { 'content-type': 'application/json' }),
    ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }),
  },
})

console.log(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    failed: result.errors + result.timeouts + result['4xx'] + result['5xx'],
    p50: result.latency.p50,
    p99: result.latency.p99,
  }),
)
