/** The ceiling: `node:http` answering every request with the same bytes, or with 304 where it is asked with their ETag. Usage: plain.mjs CONTENT_TYPE ETAG < BODY */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

const body = await buffer(process.stdin)
const [, , type, tag] = process.argv
const headers = { 'content-type': type, 'content-length': body.length }

const server = createServer((request, response) => {
  const sent = request.headers['if-none-match']
  if (sent !== undefined && sent === tag) {
    response.writeHead(304, { etag: tag })
    response.end()
    return
  }
  response.writeHead(200, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
