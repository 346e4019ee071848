/** A server that takes one file by PUT and gives it by GET: `plain` with Node's own streams, which hash and flush; or by the store and the answers of Duet. Prints its port. */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, renameSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const [kind, folder] = process.argv.slice(2)
const handlers = { plain, duet }
const { put, get } = await handlers[kind]()

const server = createServer(async (incoming, outgoing) => {
  if (incoming.method === 'PUT') outgoing.end(await put(incoming))
  else await get(incoming, outgoing)
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))

function plain() {
  const pathOf = digest => join(folder, digest)
  return {
    put: async incoming => {
      const part = pathOf(randomUUID())
      const hash = createHash('sha256')
      await pipeline(
        incoming,
        async function* (chunks) {
          for await (const chunk of chunks) {
            hash.update(chunk)
            yield chunk
          }
        },
        createWriteStream(part, { flush: true }),
      )
      const digest = hash.digest('hex')
      renameSync(part, pathOf(digest))
      const handle = await open(folder)
      await handle.sync()
      await handle.close()
      return digest
    },
    get: (incoming, outgoing) =>
      pipeline(createReadStream(pathOf(incoming.url.slice(1))), outgoing),
  }
}

async function duet() {
  const { folderStore } = await import('../../src/files/folder.ts')
  const { serveFile } = await import('../../src/files/serve.ts')
  const store = folderStore(folder)
  return {
    put: async incoming => (await store.put(incoming)).digest,
    get: async (incoming, outgoing) => {
      const digest = incoming.url.slice(1)
      const bytes = await store.size(digest)
      const shown = { digest, bytes, name: 'a.bin', type: 'application/zip', cache: 'private' }
      const { status, headers, stream } = await serveFile(
        new Request(`http://localhost/${digest}`),
        shown,
        store,
      )
      outgoing.writeHead(status, headers)
      for await (const chunk of stream.body) {
        await new Promise(resolve => outgoing.write(chunk, resolve))
        stream.body.spent(chunk)
      }
      outgoing.end()
    },
  }
}
