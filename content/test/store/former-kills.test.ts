/** Pictures of a store of 0.2.0 while they are moved by processes that are killed, and in a backup that is made meanwhile: each is whole in one place or the other. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { randomFrom } from '#base/random.ts'
import { sqliteStore } from '#engines/sqlite/store.ts'
import { folderStore } from '#files/folder.ts'
import { putRows } from '#serve/insert.ts'
import { command } from '#test/commands.ts'
import { plain, type Settings, serve } from '#test/duet.ts'
import { historyFor } from '#test/history.ts'
import { filling, sqliteTest as it, lookAtFile, ownStore, postgresOf } from '#test/stores.ts'
import { ownFolder } from '#test/support/folders.ts'
import { rounds, usualSeed } from '#test/support/rounds.ts'
import { type Bytes, joined, latin, png } from '../contract/pictures.ts'
import { onPostgres, secret, usualModel } from '../world.ts'

const mover = fileURLToPath(new URL('mover.ts', import.meta.url))
const imports = new URL('../../../src/base/resolve-imports.ts', import.meta.url).href

const people = 12
const pictures = new Map<number, Bytes>(
  Array.from({ length: people }, (_, at) => [
    at + 1,
    joined(png, latin(`of ${at}`.padEnd(1000 * at * at))),
  ]),
)

/** A store whose people have their pictures in the table of an earlier release. */
const begin = async () => {
  const folder = ownFolder('former-kills')
  const file = join(folder, 'duet.db')
  const { url, rows, change } = await ownStore(file, false)
  const store = onPostgres
    ? postgresOf(url)
    : sqliteStore({ file, migrations: historyFor('sqlite') })
  await store.migrate()
  const user = Array.from({ length: people }, (_, at) => ({
    name: `User ${at}`,
    email: `u${at}@example.org`,
  }))
  await filling(store, line => putRows({ ...line, model: usualModel }, { user }, 0, 1000))
  for (const [id, bytes] of pictures)
    await change(
      'insert into avatars (user_id, type, digest, created_at, bytes) values (?1, ?2, ?3, 1, ?4)',
      ...[id, 'image/png', `${id}`, bytes],
    )
  const settings: Settings = {
    ...{ DUET_DATABASE_URL: url, DUET_AUTH_SECRET: secret, DUET_FILES: join(folder, 'files') },
  }
  return { folder, settings, rows }
}

type Begun = Awaited<ReturnType<typeof begin>>

/** How many of the pictures are in the table yet; fails unless each is there or in the place of files, whole. */
const checkAll = async ({ settings, rows }: Begun): Promise<number> => {
  const isThere = onPostgres
    ? "select 1 where to_regclass('avatars') is not null"
    : "select 1 from sqlite_master where name = 'avatars'"
  const table =
    (await rows(isThere)).length > 0 ? await rows('select user_id, bytes from avatars') : []
  const former = new Map(table.map(([id, bytes]) => [Number(id), bytes as Uint8Array]))
  const store = folderStore(settings.DUET_FILES ?? '')
  for (const [id, text] of await rows('select id, avatar from users')) {
    const wanted = pictures.get(Number(id)) ?? assert.fail()
    const own = former.get(Number(id))
    const found =
      own ?? Buffer.concat(await Array.fromAsync(await store.open(JSON.parse(String(text)).digest)))
    assert.equal(Buffer.compare(found, wanted), 0, `picture of ${id}`)
  }
  return former.size
}

/** Moves by a process that kills itself at such a step; says whether it came to its end. */
const move = async ({ settings }: Begun, steps: number): Promise<boolean> => {
  const env = { ...plain, ...settings, MOVER_STEPS: String(steps) }
  const child = spawn(process.execPath, [`--import=${imports}`, mover], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let isDone = false
  for await (const line of createInterface(child.stdout)) isDone ||= line.startsWith('moved ')
  await ended
  return isDone
}

/** Fails unless a service shows all pictures. */
const checkServed = async (settings: Settings) => {
  const service = await serve(settings)
  for (const [id, bytes] of pictures) {
    const answer = await fetch(`${service.url}/api/users/${id}/avatar`)
    assert.equal(answer.status, 200)
    assert.equal(Buffer.compare(await answer.bytes(), bytes), 0, `picture of ${id}`)
  }
  await service.end()
}

const times = rounds(1, 100)
test(`pictures are whole wherever a move is killed, ${times} times to its end`, async t => {
  const random = randomFrom(usualSeed(times))
  let kills = 0
  for (let time = 0; time < times; time++) {
    const begun = await begin()
    for (;;) {
      const steps = 1 + Math.floor(random() * 25)
      const isDone = await move(begun, steps)
      const left = await checkAll(begun)
      if (isDone) {
        assert.equal(left, 0)
        break
      }
      kills++
    }
    await checkServed(begun.settings)
  }
  assert.ok(kills > 0)
  t.diagnostic(`${kills} kills`)
})

it('a backup of a half moved store has all pictures, and a store that is made of it goes on with the move', async () => {
  const begun = await begin()
  await move(begun, 20)
  const left = await checkAll(begun)
  assert.ok(left > 0 && left < people, String(left))
  const { folder, settings } = begun
  const [backup, copy] = [join(folder, 'backup.db'), join(folder, 'copy')]
  const made = await command(['backup', backup, '--files', copy], settings)
  assert.equal(made.code, 0, made.stderr)
  const file = join(folder, 'restored', 'duet.db')
  mkdirSync(dirname(file))
  const own = {
    ...settings,
    ...{ DUET_DATABASE_URL: `sqlite:${file}`, DUET_FILES: join(folder, 'restored', 'files') },
  }
  const restored = await command(['restore', backup, '--files', copy], own)
  assert.equal(restored.code, 0, restored.stderr)
  const there = { folder, settings: own, rows: lookAtFile(file) }
  assert.equal(await checkAll(there), left)
  assert.equal(await move(there, 1000), true)
  assert.equal(await checkAll(there), 0)
  await checkServed(own)
})
