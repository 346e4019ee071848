/** The stores that are measured: one made by `duet seed`, and one with only the rows that the nested query shows. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { factsOf } from './facts.mjs'
import { ownDuet } from './options.mjs'

const cache = fileURLToPath(new URL('../.data/', import.meta.url))

export const sizes = {
  full: { users: 10_000, posts: 50_000, comments: 200_000, products: 100_000 },
  small: { users: 200, posts: 1_000, comments: 4_000, products: 2_000 },
}

/** Gives both files and what to ask of them, and makes them unless they were made before. */
export async function prepare(duet, options) {
  const { data, fresh } = options
  const folder = join(cache, [...Object.values(sizes[data]), ...maker(options)].join('-'))
  if (fresh) rmSync(folder, { recursive: true, force: true })
  if (!existsSync(folder)) await make(duet, sizes[data], folder)
  return at(folder)
}

// Another checkout's schema may differ, so what it made is kept apart.
const maker = options =>
  options.duet === ownDuet
    ? []
    : [createHash('sha256').update(options.duet).digest('hex').slice(0, 8)]

function at(folder) {
  const files = { all: join(folder, 'all.db'), few: join(folder, 'few.db') }
  return { files, facts: reading(files.all, factsOf) }
}

function reading(file, read) {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return read(db)
  } finally {
    db.close()
  }
}

// Made aside and renamed when whole, so that an interrupted run leaves no half store behind.
async function make(duet, sizes, folder) {
  const unfinished = `${folder}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  await seed(duet, sizes, join(unfinished, 'all.db'))
  await copyFew(duet, unfinished)
  renameSync(unfinished, folder)
}

async function seed(duet, sizes, file) {
  await duet.command(file, ['migrate'])
  const options = Object.entries(sizes).flatMap(([kind, count]) => [`--${kind}`, String(count)])
  await duet.command(file, ['seed', ...options], true)
}

// A thousandth of the rows must give the very same answer, or the two times could not be compared.
async function copyFew(duet, folder) {
  const { files, facts } = at(folder)
  const rows = reading(files.all, db => fewRows(db, facts))
  await duet.command(files.few, ['migrate'])
  for (const [kind, list] of Object.entries(rows)) {
    const source = join(folder, `${kind}.ndjson`)
    writeFileSync(source, list.map(row => `${JSON.stringify(row)}\n`).join(''))
    await duet.command(files.few, ['import', kind, source])
  }
}

function fewRows(db, { shown }) {
  const rows = (columns, table, ids) =>
    db
      .prepare(
        `select ${columns} from ${table} where id in (select value from json_each(?)) order by id`,
      )
      .all(JSON.stringify(ids))
      .map(row => ({ ...row, createdAt: new Date(row.createdAt).toISOString() }))
  const time = 'created_at as createdAt'
  return {
    users: rows(`id, name, email, ${time}`, 'users', [...shown.users, ...shown.authors]),
    posts: rows(`id, title, content, author_id as authorId, ${time}`, 'posts', shown.posts),
    comments: rows(
      `id, text, post_id as postId, author_id as authorId, ${time}`,
      'comments',
      shown.comments,
    ),
  }
}
