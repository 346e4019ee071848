/**
 * Peer: one user and a page of products by hand, as a careful author would serve them with Fastify and its plugins. Usage: fastify.mjs FILE,
 * with the secret of the tokens in BENCH_SECRET.
 */
import { DatabaseSync } from 'node:sqlite'
import etag from '@fastify/etag'
import { fastifyApp } from './fastify-app.mjs'

const perPage = 20
const db = new DatabaseSync(process.argv[2], { readOnly: true, timeout: 5000 })
db.exec('pragma cache_size = -65536; pragma temp_store = memory')

/** A statement whose rows come as arrays, which cost less than `node:sqlite`'s objects. */
const prepare = sql => {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}
const userById = prepare(
  'select id, name, email, age, role, status, email_verified, created_at from users where id = ?',
)
const productsIn = prepare(
  `select id, name, category, price, stock, image, created_at from products
   where category = ? order by price, id limit ${perPage} offset ?`,
)
// The count that triggers of Duet's store keep: counting the rows would cost this peer more.
const countIn = prepare(
  "select n from counts where entity = 'products' and field = 'category' and value = ?",
)

const app = await fastifyApp(etag)

const object = properties => ({ type: 'object', properties })
const [string, integer, number, boolean] = ['string', 'integer', 'number', 'boolean'].map(type => ({
  type,
}))
const nullable = ({ type }) => ({ type: [type, 'null'] })
const link = object({ href: string })
const action = object({ href: string, method: string })

const userShown = object({
  id: integer,
  name: string,
  email: string,
  age: nullable(integer),
  role: string,
  status: string,
  emailVerified: boolean,
  createdAt: string,
  _links: object({ self: link, posts: link, avatar: link, update: action, delete: action }),
})

app.get('/api/users/:id', {
  schema: { params: object({ id: integer }), response: { 200: userShown } },
  handler: (request, reply) => {
    const row = userById.get(request.params.id)
    if (!row) return reply.code(404).send({ error: 'there is no such user' })
    const [id, name, email, age, role, status, emailVerified, createdAt] = row
    const self = `/api/users/${id}`
    return reply.header('cache-control', 'private, no-cache').send({
      id,
      name,
      email,
      age,
      role,
      status,
      emailVerified: emailVerified === 1,
      createdAt: new Date(createdAt).toISOString(),
      _links: {
        self: { href: self },
        posts: { href: `${self}/posts` },
        avatar: { href: `${self}/avatar` },
        update: { href: self, method: 'PATCH' },
        delete: { href: self, method: 'DELETE' },
      },
    })
  },
})

const productShown = object({
  id: integer,
  name: string,
  category: string,
  price: number,
  stock: integer,
  image: nullable(string),
  created_at: string,
})
const pagination = object({
  page: integer,
  limit: integer,
  total: integer,
  totalPages: integer,
  hasNext: boolean,
  hasPrev: boolean,
})

app.get('/api/products', {
  schema: {
    querystring: {
      ...object({
        category: string,
        sort: { type: 'string', enum: ['price'] },
        page: { type: 'integer', minimum: 1, default: 1 },
      }),
      required: ['category', 'sort'],
      additionalProperties: false,
    },
    response: { 200: object({ data: { type: 'array', items: productShown }, pagination }) },
  },
  handler: (request, reply) => {
    const { category, page } = request.query
    const rows = productsIn.all(category, (page - 1) * perPage)
    const total = countIn.get(category)?.[0] ?? 0
    const totalPages = Math.ceil(total / perPage)
    return reply.header('cache-control', 'public, no-cache').send({
      data: rows.map(([id, name, category, price, stock, image, createdAt]) => ({
        id,
        name,
        category,
        price: price / 100,
        stock,
        image,
        created_at: new Date(createdAt).toISOString(),
      })),
      pagination: {
        page,
        limit: perPage,
        total,
        totalPages,
        hasNext: page < totalPages,
        hasPrev: page > 1,
      },
    })
  },
})

console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
