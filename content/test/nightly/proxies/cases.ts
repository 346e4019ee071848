/** Requests as bytes, each of which two readers of HTTP could take for different ones: behind it stands another. */

const hidden = 'GET /api/smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

const post = (headers: readonly string[], body: string): string =>
  `POST /api/users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers.map(line => `${line}\r\n`).join('')}\r\n${body}`

const length = (text: string | number) => `Content-Length: ${text}`
const chunked = 'Transfer-Encoding: chunked'
const whole = `0\r\n\r\n${hidden}`
const size = hidden.length.toString(16)

/** Two lengths of a body. */
const lengths: readonly (readonly string[])[] = [
  [length(0), length(hidden.length)],
  [length(hidden.length), length(0)],
  [length(`0, ${hidden.length}`)],
  [length(`${hidden.length}, ${hidden.length}`)],
  ...['+0', '-0', '0x0', '0 0', '0;', '00', '0e0', '', ' ', '0\t', '٠', '0\u00a0', '0\x0b'].map(
    text => [length(text)],
  ),
  ['Content-Length : 0'],
  [' Content-Length: 0'],
  ['Content-Length:0', 'content-length: 39'],
  ['Content_Length: 0'],
  ['X: 1\n Content-Length: 0'],
  ['X: 1\nContent-Length: 0'],
  ['X: 1\rContent-Length: 0'],
  ['Content-Length\x00: 0'],
]

/** A coding beside a length, or one that is written so that some do not see it. */
const codings: readonly (readonly string[])[] = [
  [chunked, length(5)],
  [length(5), chunked],
  [chunked, length(whole.length)],
  [length(whole.length), chunked],
  ...[
    ...['Chunked', 'CHUNKED', 'xchunked', 'chunkedx', 'chunked, identity', 'identity, chunked'],
    ...['chunked, chunked', '"chunked"', 'chunked;q=1', 'chun ked', ',chunked', 'chunked,'],
    ...['\tchunked', '\x0bchunked', '\x0cchunked', 'gzip, chunked', 'identity', 'chunk', ''],
  ].map(coding => [`Transfer-Encoding: ${coding}`, length(whole.length)]),
  ['Transfer-Encoding : chunked', length(whole.length)],
  [' Transfer-Encoding: chunked', length(whole.length)],
  ['Transfer-Encoding:\r\n chunked', length(whole.length)],
  ['Transfer_Encoding: chunked', length(whole.length)],
  ['X: 1\nTransfer-Encoding: chunked', length(whole.length)],
  ['Transfer-Encoding: identity', chunked, length(whole.length)],
]

/** Chunks that are not what they say. */
const chunks: readonly string[] = [
  `0x0\r\n\r\n${hidden}`,
  `+0\r\n\r\n${hidden}`,
  `-0\r\n\r\n${hidden}`,
  `0 \r\n\r\n${hidden}`,
  `0;a=b\nX\r\n\r\n${hidden}`,
  `0\n\n${hidden}`,
  `0\r\r${hidden}`,
  `0\r\n\n${hidden}`,
  `${size};\n${hidden}\r\n0\r\n\r\n`,
  `2\r\n{}X\r\n0\r\n\r\n${hidden}`,
  `fffffffffffffffff\r\n${hidden}`,
  `10000000000000000\r\n${hidden}`,
  `0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  `0\r\nTransfer-Encoding: chunked\r\n\r\n${hidden}`,
]

/** First lines that end in several ways. */
const lines: readonly string[] = [
  `GET /api/posts HTTP/1.1\nHost: a\n\n${hidden}`,
  `GET /api/posts HTTP/1.1\rHost: a\r\r${hidden}`,
  `GET /api/posts\r\n${hidden}`,
  `GET /api/posts HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
  `GET /api/posts HTTP/1.1\r\nHost: a\r\n${length(hidden.length)}\r\n\r\n${hidden}`,
  `GET /api/posts HTTP/1.1\r\nHost: a\r\nConnection: Content-Length\r\n${length(hidden.length)}\r\n\r\n${hidden}`,
  `GET /api/posts HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n${hidden}`,
  `GET http://a/api/posts HTTP/1.1\r\nHost: b\r\n\r\n`,
]

export const cases: readonly string[] = [
  ...lengths.map(headers => post(headers, hidden)),
  ...codings.map(headers => post(headers, whole)),
  ...chunks.map(body => post([chunked], body)),
  ...lines,
]
