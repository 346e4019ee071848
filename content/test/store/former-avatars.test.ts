/** Pictures of a store of 0.2.0, whose bytes are in a table: served, replaced and removed there, and moved into the store of files. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileOf } from '#files/by-hand.ts'
import { checkMoved, formerFiles, type Moving, moveFormer } from '#files/former.ts'
import { collectGarbage, startTidying } from '#files/garbage.ts'
import { until } from '#test/support/wait.ts'
import { type Bytes, gif, joined, latin, png } from '../contract/pictures.ts'
import { refuses } from '../rest.ts'
import { createWorld, onPostgres, type World } from '../world.ts'

/** As 0.2.0 stored a picture. */
const digestOf = (bytes: Uint8Array) => hash('sha256', bytes, 'base64url').slice(0, 22)

const pictures = new Map<number, Bytes>([
  [1, png],
  [2, joined(png, latin('of Ben'))],
  [3, joined(png, latin('of Cleo'))],
])

let world: World
let moving: Moving

const putFormer = async (id: number, bytes: Bytes): Promise<void> => {
  await world.change('delete from avatars where user_id = ?1', id)
  await world.change(
    'insert into avatars (user_id, type, digest, created_at, bytes) values (?1, ?2, ?3, 1, ?4)',
    ...[id, 'image/png', digestOf(bytes), bytes],
  )
}

/** Begins a world with the pictures, and the next turn: the reads of one see what its first saw. */
const begin = async () => {
  world = await createWorld()
  const { engine, core, store } = world
  moving = {
    ...{ reader: engine, writer: engine, dialect: engine.dialect },
    ...{ entities: core.model.entities, keepFile: core.services.keepFile },
    session: () => store.session('filling'),
    isShared: onPostgres,
  }
  for (const [id, bytes] of pictures) await putFormer(id, bytes)
  await nextTurn()
}
beforeEach(begin)
afterEach(() => world.close())

const read = async (id: number, headers: Record<string, string> = {}) => {
  const answer = await world.app.request(`/api/users/${id}/avatar`, { headers })
  return { answer, bytes: new Uint8Array(await answer.arrayBuffer()) }
}

const shows = async (id: number, bytes: Bytes, type = 'image/png') => {
  const { answer, bytes: shown } = await read(id)
  assert.deepEqual(
    {
      status: answer.status,
      type: answer.headers.get('content-type'),
      tag: answer.headers.get('etag'),
      length: answer.headers.get('content-length'),
    },
    { status: 200, type, tag: `"${digestOf(bytes)}"`, length: String(bytes.length) },
  )
  assert.equal(Buffer.compare(shown, bytes), 0)
}

const isThere = async () =>
  (
    await world.rows(
      onPostgres
        ? "select 1 where to_regclass('avatars') is not null"
        : "select 1 from sqlite_master where name = 'avatars'",
    )
  ).length > 0

const put = (id: number, raw: Bytes, headers: Record<string, string> = {}) =>
  world.ask(`PUT /api/users/${id}/avatar`, { as: id, raw, headers })

describe('pictures of a store of 0.2.0', () => {
  test('are served as before, and after they were moved, and the table is gone then where it can be', async () => {
    const tag = (await world.ask('GET /api/users/2', { as: 2 })).headers.get('etag')
    for (const [id, bytes] of pictures) await shows(id, bytes)
    const known = await read(2, { 'If-None-Match': `"${digestOf(pictures.get(2) ?? png)}"` })
    assert.equal(known.answer.status, 304)
    assert.equal(await moveFormer(moving), 3)
    // On SQLite it goes with the next start.
    assert.equal(await isThere(), !onPostgres)
    for (const [id, bytes] of pictures) await shows(id, bytes)
    assert.equal((await world.ask('GET /api/users/2', { as: 2 })).headers.get('etag'), tag)
    assert.equal(await moveFormer(moving), 0)
    assert.equal((await put(2, gif)).status, 204)
    await shows(2, gif, 'image/gif')
  })

  test('are replaced and removed under their ETags before they are moved', async () => {
    const tag = `"${digestOf(png)}"`
    refuses(await put(1, gif, { 'If-Match': `"${'x'.repeat(22)}"` }), 412, 'PRECONDITION_FAILED')
    await shows(1, png)
    assert.equal((await put(1, gif, { 'If-Match': tag })).status, 204)
    await shows(1, gif, 'image/gif')
    assert.equal((await world.ask('DELETE /api/users/2/avatar', { as: 2 })).status, 204)
    assert.equal((await read(2)).answer.headers.get('content-type'), 'image/svg+xml')
    assert.equal(await moveFormer(moving), 1)
    await shows(1, gif, 'image/gif')
    await shows(3, pictures.get(3) ?? png)
    assert.equal((await read(2)).answer.headers.get('content-type'), 'image/svg+xml')
  })

  test('that the earlier release puts over a newer one count, and are moved', async () => {
    assert.equal((await put(1, gif)).status, 204)
    const later = joined(png, latin('later'))
    await putFormer(1, later)
    await shows(1, later)
    await moveFormer(moving)
    await shows(1, later)
  })

  test('are moved as they are in the end where one is replaced or removed, or its user deleted, while they are moved', async () => {
    const later = joined(png, latin('meanwhile'))
    const changes = [
      () => putFormer(1, later),
      () => world.change('delete from avatars where user_id = 2'),
      () => world.ask('DELETE /api/users/3', { as: 3 }),
    ]
    const keepFile: Moving['keepFile'] = async file => {
      const kept = await moving.keepFile(file)
      await changes.shift()?.()
      return kept
    }
    await moveFormer({ ...moving, keepFile })
    // On SQLite it goes with the next start.
    assert.equal(await isThere(), !onPostgres)
    await shows(1, later)
    assert.equal((await read(2)).answer.headers.get('content-type'), 'image/svg+xml')
    refuses(await world.ask('GET /api/users/3/avatar'), 404, 'NOT_FOUND')
  })

  test('are all there wherever the move ends in between, and once it is run again', async () => {
    for (let steps = 0; ; steps++) {
      let left = steps
      const stops =
        <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
        async (...given: Given): Promise<Result> => {
          if (left-- <= 0) throw new Error('stopped before')
          const result = await work(...given)
          if (left-- <= 0) throw new Error('stopped after')
          return result
        }
      const stopped = {
        ...moving,
        isShared: false,
        keepFile: stops(moving.keepFile),
        writer: { write: stops(moving.writer.write) },
        session: stops(moving.session),
      }
      const isDone = await moveFormer(stopped).then(
        () => true,
        () => false,
      )
      for (const [id, bytes] of pictures) await shows(id, bytes)
      if (isDone) return assert.ok(steps >= 10, String(steps))
      if (steps % 2 === 0) await moveFormer({ ...moving, isShared: false })
      for (const [id, bytes] of pictures) await shows(id, bytes)
      await world.close()
      await begin()
    }
  })

  test('are moved once each by several processes at once', async () => {
    const all = await Promise.all(Array.from({ length: 3 }, () => moveFormer(moving)))
    assert.equal(
      all.reduce((sum, moved) => sum + moved),
      3,
    )
    assert.equal(await isThere(), !onPostgres)
    for (const [id, bytes] of pictures) await shows(id, bytes)
  })

  test('go on under the next process where one was killed', async () => {
    const stopped = new AbortController()
    const keepFile: Moving['keepFile'] = file => {
      stopped.abort()
      return moving.keepFile(file)
    }
    assert.equal(await moveFormer({ ...moving, keepFile }, stopped.signal), 1)
    for (const [id, bytes] of pictures) await shows(id, bytes)
    assert.equal(await moveFormer(moving), 2)
    for (const [id, bytes] of pictures) await shows(id, bytes)
  })

  test('are shown where they are moved between the reads of a request', async () => {
    const moves = async (...given: Parameters<typeof world.core.reader.query>) => {
      const rows = await world.engine.query(...given)
      await moveFormer(moving)
      return rows
    }
    const reader = { ...world.core.reader, query: moves }
    const { files } = world.core
    const former = formerFiles({ ...moving, reader })
    const core = { ...world.core, reader, files: files && { ...files, ...(former && { former }) } }
    const found = await fileOf(core, { entity: 'user', field: 'avatar', id: 2 })
    assert.equal(found?.digest, hash('sha256', pictures.get(2) ?? png))
    refuses(await world.ask('GET /api/users/999999/avatar'), 404, 'NOT_FOUND')
  })

  test('of no row end the move, which names one and goes on with the others', async () => {
    await world.change(
      `create table loose (user_id integer primary key, type text not null, bytes ${onPostgres ? 'bytea' : 'blob'} not null)`,
    )
    await world.change('insert into loose select user_id, type, bytes from avatars')
    await world.change('update loose set user_id = user_id + 999997 where user_id > 1')
    const { user, ...others } = moving.entities
    const { avatar } = user?.fields ?? {}
    assert.ok(user && avatar?.file?.movedFrom)
    const movedFrom = { ...avatar.file.movedFrom, table: 'loose' }
    const fields = { ...user.fields, avatar: { ...avatar, file: { ...avatar.file, movedFrom } } }
    const loose = { ...moving, entities: { ...others, user: { ...user, fields } } }
    await assert.rejects(moveFormer(loose), {
      message:
        '2 files in the table loose were not moved, the first of them avatar of user 999999 (there is no such row: delete it)',
    })
    assert.deepEqual(
      (await world.rows('select user_id from loose')).map(([id]) => Number(id)),
      [999999, 1_000_000],
    )
    await world.change('delete from loose')
    await nextTurn()
    assert.equal(await moveFormer(loose), 0)
  })

  test('are moved to the end of one where the service is closed, and no garbage is collected then', async () => {
    const { store } = world.core.files ?? assert.fail()
    let written = 0
    const writer: Moving['writer'] = {
      write: job => {
        written++
        return moving.writer.write(job)
      },
    }
    let closed: Promise<void> | undefined
    const keepFile: Moving['keepFile'] = file => {
      closed = end()
      return moving.keepFile(file)
    }
    const tidying = { ...moving, writer, keepFile, store, isShared: false, now: Date.now }
    const end = startTidying(tidying, message => assert.fail(message))
    await until('it is closed', () => closed !== undefined)
    await closed
    await nextTurn()
    assert.equal(written, 1)
  })

  test('are left by no collection of garbage, and those that were replaced are collected', async () => {
    assert.equal((await put(1, gif)).status, 204)
    await moveFormer(moving)
    const { store } = world.core.files ?? assert.fail()
    const later = (days: number) => ({
      ...{ ...moving, store },
      now: () => Date.now() + days * 86_400_000,
    })
    for (const days of [2, 40]) await collectGarbage(later(days))
    await shows(1, gif, 'image/gif')
    await shows(3, pictures.get(3) ?? png)
    assert.equal(await store.size(hash('sha256', png)), undefined)
  })

  test('stop a move of the store as long as some are in the table', async () => {
    const session = await world.store.session('reading')
    try {
      const check = () => checkMoved(session, moving.dialect, moving.entities)
      await assert.rejects(check(), /^Error: files of user\.avatar are in the table avatars yet/)
      await world.change('delete from avatars')
      await check()
    } finally {
      await session.close()
    }
  })
})
