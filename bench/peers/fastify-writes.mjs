/**
 * Peer: comments posted by hand, as a careful author would insert them with Fastify and `node:sqlite`, each flushed to the disk before it
 * is answered. Usage: fastify-writes.mjs FILE, with the secret of the tokens in BENCH_SECRET.
 */
import { DatabaseSync } from 'node:sqlite'
import { fastifyApp } from './fastify-app.mjs'

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

const app = await fastifyApp()

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
