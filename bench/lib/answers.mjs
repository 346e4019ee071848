/** What the programs that send requests by bare sockets have in common: requests as bytes, answers as they come, latencies. */

/** The bytes of a request. `headers` are lines; a `body` is JSON. */
export const requestOf = ({ method, path, body = '', host, token, headers = [] }) =>
  Buffer.from(
    [
      `${method} ${path} HTTP/1.1`,
      `Host: ${host}`,
      ...(token ? [`Authorization: Bearer ${token}`] : []),
      ...headers,
      ...(method === 'GET'
        ? []
        : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
      '',
      body,
    ].join('\r\n'),
  )

// JSON holds no bare line break, so this ends a body in chunks and is nowhere else in it.
const lastChunk = '\r\n0\r\n\r\n'
const lengthless = head =>
  /\r\ntransfer-encoding: *chunked/i.test(head) ? Number.POSITIVE_INFINITY : 0

/** Calls back with the status and the head of each answer when its last byte is there; one request at a time. */
export const onAnswer = (socket, answered) => {
  let head = ''
  let tail = ''
  let missing = -1
  socket.on('data', chunk => {
    if (missing < 0) {
      head += chunk.latin1Slice()
      const ends = head.indexOf('\r\n\r\n')
      if (ends < 0) return
      const isEmpty = head.startsWith('HTTP/1.1 304')
      const length = isEmpty
        ? 0
        : (/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? lengthless(head))
      missing = Number(length) - (head.length - ends - 4)
      head = head.slice(0, ends + 2)
    } else missing -= chunk.length
    if (missing === Number.POSITIVE_INFINITY) {
      tail = (tail + chunk.subarray(-lastChunk.length).latin1Slice()).slice(-lastChunk.length)
      if (tail !== lastChunk) return
      tail = ''
      missing = 0
    }
    if (missing > 0) return
    const whole = head
    head = ''
    missing = -1
    answered(Number(whole.slice(9, 12)), whole)
  })
}

/** The median and the 99th percentile of times, 0 where there are none. */
export const percentiles = times => {
  const sorted = Float64Array.from(times).sort()
  const [p50, p99] = [0.5, 0.99].map(part => sorted[Math.floor(sorted.length * part)] ?? 0)
  return { p50, p99 }
}
