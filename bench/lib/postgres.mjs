/** A PostgreSQL server of the bench's own, and what is worth asking the store that Duet makes in it. */
import pg from 'pg'
import { startPostgres } from '../../test/postgres/tools/server.ts'
import { fullest, perPost, perUser } from './facts.mjs'

/** Starts one as durable as by default, with an empty database; it goes when the bench goes, however that ends. */
export async function serveDatabase() {
  const server = await startPostgres({ durable: true, settings: { shared_buffers: '256MB' } })
  const url = new URL(server.url)
  const version = await session(url.href, async client => {
    await client.query('create database bench')
    return (await client.query('show server_version')).rows[0].server_version
  })
  url.pathname = '/bench'
  return { url: url.href, version, stop: server.end }
}

/** Fills the database by Duet's own commands, and tidies it as time would: not in the middle of a measurement. */
export async function fillDatabase(duet, url, sizes) {
  await duet.command(url, ['migrate'])
  const options = Object.entries(sizes).flatMap(([kind, count]) => [`--${kind}`, String(count)])
  await duet.command(url, ['seed', ...options], true)
  return await session(url, async client => {
    await client.query('vacuum analyze')
    await client.query('checkpoint')
    return await factsOf(client)
  })
}

/** One connection for as long as `use` takes. */
async function session(url, use) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

async function factsOf(client) {
  const all = async sql => (await client.query(sql)).rows
  const middle = async table =>
    (
      await all(
        `select id from ${table} order by id offset (select count(*) / 2 from ${table}) limit 1`,
      )
    )[0].id
  const some = async table =>
    (await all(`select id from ${table} order by id * 7919 % 10007, id limit 500`)).map(
      ({ id }) => id,
    )
  const users = await all(`
    select users.id, coalesce(sum(1 + least(${perPost}, replies)), 0)::int as objects
    from users left join (
      select author_id, row_number() over (partition by author_id order by id desc) as place,
        (select count(*) from comments where post_id = posts.id) as replies
      from posts
    ) as latest on latest.author_id = users.id and place <= ${perUser}
    group by users.id order by users.id`)
  return {
    userId: await middle('users'),
    productId: await middle('products'),
    offset: fullest(users).offset,
    // Half of the posts are younger.
    since: Number(
      (
        await all(
          'select created_at from posts order by id offset (select count(*) / 2 from posts) limit 1',
        )
      )[0].created_at,
    ),
    someUsers: await some('users'),
    someProducts: await some('products'),
  }
}
