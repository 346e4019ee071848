/** What the thread of people takes of identity providers that are hostile, silent, or not who they say. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { after, test } from 'node:test'
import { boundedFetch } from '#people/outgoing.ts'

/** The address of a server that answers so. */
const hostile = async (answer: RequestListener): Promise<string> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

test('an answer above the bound, and a redirect to another address, are refused', async () => {
  const large = await hostile((_request, response) => response.end(Buffer.alloc(262_145, 32)))
  await assert.rejects(boundedFetch([])(large), /more than 262144 bytes/)
  const elsewhere = await hostile((_request, response) =>
    response.writeHead(302, { location: large }).end(),
  )
  await assert.rejects(boundedFetch([])(elsewhere))
})

test('a discovery document counts only if it names the issuer that was asked, and endpoints that are safe', async () => {
  let document: object = { issuer: 'https://login.example.org' }
  const url = await hostile((_request, response) => response.end(JSON.stringify(document)))
  const ask = () => boundedFetch([url])(`${url}/.well-known/openid-configuration`)
  await assert.rejects(ask(), /names another issuer/)
  document = { issuer: `${url}/` }
  assert.deepEqual(await (await ask()).json(), document)
  for (const address of ['http://login.example.org', 'javascript:alert(1)', '/token', 5, null]) {
    document = { issuer: url, token_endpoint: address }
    await assert.rejects(ask(), /has an unsafe token_endpoint/)
  }
})
