/** The ceiling: `node:http` answering every request with the same bytes. Usage: plain.mjs CONTENT_TYPE < BODY */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

const body = await buffer(process.stdin)
const headers = { 'content-type': process.argv[2], 'content-length': body.length }

const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
