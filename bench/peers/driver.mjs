/**
 * The driver alone: pg, one pipelined connection, 32 callers, no HTTP. Usage: driver.mjs URL, with IPC.
 * A message `{ job, values, seconds }` is answered with `{ requests, rate, p50, p99 }`; without `seconds`, with what PostgreSQL gave.
 */
import pg from 'pg'

const callers = 32

// One statement as Hasura makes it: each level's rows become JSON beside the data.
const nested = `
select json_build_object('users', coalesce(json_agg(
  json_build_object('id', u.id::text, 'name', u.name, 'posts', p.list) order by u.id
), '[]'))::text
from (select id, name from users order by id limit 10 offset $1) as u
left join lateral (
  select coalesce(json_agg(
    json_build_object('title', p.title, 'comments', c.list) order by p.id desc
  ), '[]') as list
  from (select id, title from posts where author_id = u.id order by id desc limit 5) as p
  left join lateral (
    select coalesce(json_agg(
      json_build_object('text', c.text, 'author', a.author) order by c.id desc
    ), '[]') as list
    from (
      select id, text, author_id from comments where post_id = p.id order by id desc limit 4
    ) as c
    left join lateral (
      select json_build_object('name', name) as author from users where id = c.author_id
    ) as a on true
  ) as c on true
) as p on true`

const jobs = {
  lookup: 'select * from users where id = $1',
  statement: nested,
}

const client = new pg.Client({ connectionString: process.argv[2], pipeline: true })
await client.connect()

process.on('message', async ({ job, values, seconds }) => {
  const query = { name: job, text: jobs[job], values, rowMode: 'array' }
  process.send(seconds ? await repeat(query, seconds) : (await client.query(query)).rows)
})
// The bench is gone: nobody will ask again.
process.on('disconnect', () => process.exit())
process.send('ready')

async function repeat(query, seconds) {
  const times = []
  const began = performance.now()
  const end = began + seconds * 1000
  const caller = async () => {
    for (let now = performance.now(); now < end; ) {
      const asked = now
      await client.query(query)
      now = performance.now()
      times.push(now - asked)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const took = (performance.now() - began) / 1000
  times.sort((a, b) => a - b)
  const quantile = part => times[Math.floor(times.length * part)]
  return {
    requests: times.length,
    rate: times.length / took,
    p50: quantile(0.5),
    p99: quantile(0.99),
  }
}
