/**
 * Peer: comments posted by hand, as a careful author would insert them with Fastify and `node:sqlite`, each flushed to the disk before it
 * is answered. Usage: fastify-writes.mjs FILE, with the secret of the tokens in BENCH_SECRET.
 */
import { DatabaseSync } from 'node:sqlite'
import jwt from '@fastify/jwt'
import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import pino from 'pino'

const db = new DatabaseSync(process.argv[2], { timeout: 5000 })
db.exec(
  'pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536; pragma temp_store = memory',
)

const mayWrite = db.prepare(`select 1 from users where id = ? and status <> 'banned'`)
// The row that it refers to may be gone, which is 404 and no error of the store.
const insert = db.prepare(
  `insert into comments (text, post_id, author_id, created_at)
   select ?, id, ?, ? from posts where id = ? returning id`,
)

// The lines are written some at a time, as Duet's are.
const logger = pino(pino.destination({ dest: 1, sync: false, minLength: 4096 }))
const app = Fastify({ loggerInstance: logger, disableRequestLogging: true })

await app.register(jwt, {
  secret: process.env.BENCH_SECRET,
  verify: { algorithms: ['HS256'], cache: true },
})
await app.register(rateLimit, {
  max: 100_000_000,
  timeWindow: 60_000,
  hook: 'preHandler',
  keyGenerator: request => request.user.sub,
})
app.addHook('onRequest', async request => {
  await request.jwtVerify()
})
app.addHook('onResponse', (request, reply, done) => {
  const { method, url, user } = request
  const { statusCode: status, elapsedTime: ms } = reply
  logger.info(
    { requestId: request.id, method, path: url, status, viewer: user?.sub, ms },
    'request',
  )
  done()
})

const integer = { type: 'integer' }
const string = { type: 'string' }
const object = properties => ({ type: 'object', properties })

app.post('/api/posts/:id/comments', {
  schema: {
    params: object({ id: integer }),
    body: {
      ...object({ text: { ...string, minLength: 1, maxLength: 10_000 } }),
      required: ['text'],
      additionalProperties: false,
    },
    response: {
      201: object({
        id: integer,
        text: string,
        postId: integer,
        authorId: integer,
        createdAt: string,
      }),
    },
  },
  handler: (request, reply) => {
    const { text } = request.body
    const [postId, authorId] = [request.params.id, Number(request.user.sub)]
    const now = Date.now()
    if (!mayWrite.get(authorId)) return reply.code(403).send({ error: 'you may not write' })
    const row = insert.get(text, authorId, now, postId)
    if (!row) return reply.code(404).send({ error: 'there is no such post' })
    const createdAt = new Date(now).toISOString()
    return reply.code(201).send({ id: row.id, text, postId, authorId, createdAt })
  },
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
