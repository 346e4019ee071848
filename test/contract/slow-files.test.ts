/** Files whose senders send so little that they take up room for nothing. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { loadConfig } from '#config.ts'
import { listen } from '#serve/listen.ts'
import { gallery, galleryRows, pdf } from '../support/gallery.ts'
import { until } from '../support/wait.ts'
import { createWorld, forAllTests, type WorldOptions } from '../world.ts'

/** A world of the gallery, on a port too. */
const served = async (options: WorldOptions = {}) => {
  const world = await createWorld({ content: gallery, rows: galleryRows, ...options })
  const { versions } = gallery
  const config = loadConfig({ DUET_PORT: '0' })
  const server = await listen(world.app, config, { versions, state: { isDraining: false } })
  const close = async () => {
    await server.close(0)
    await world.close()
  }
  return { ...world, url: server.url, close }
}

suite('slow files', () => {
  const world = forAllTests(served)

  const bytes = Buffer.concat([pdf('long'), Buffer.alloc(100_000)])
  const form = Buffer.from(
    '--cut\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n',
  )
  const ways = [
    ['POST', '/api/files', 'multipart/form-data; boundary=cut', Buffer.concat([form, bytes])],
  ] as const

  /** Sends those bytes as a body that goes on as it says from its second part on. */
  const send = async (
    [method, path, type, first]: (typeof ways)[number],
    goOn: (controller: ReadableStreamDefaultController) => void,
  ) => {
    let parts = 0
    const body = new ReadableStream(
      {
        pull: controller => {
          if (parts++ > 0) return goOn(controller)
          controller.enqueue(new Uint8Array(first))
        },
      },
      { highWaterMark: 0 },
    )
    // Without a socket a body that is not announced as a large one is received before it is looked at.
    const large = { 'Content-Length': '2000000' }
    const headers = {
      ...large,
      'Content-Type': type,
      Authorization: `Bearer ${await world.token(2)}`,
    }
    const answer = await world.app.request(path, { method, headers, body, duplex: 'half' } as const)
    return { status: answer.status, json: JSON.parse(await answer.text()) }
  }

  /** Makes it later for the rest of a test. */
  const later = (t: TestContext, milliseconds: number) => {
    const now = performance.now.bind(performance)
    t.mock.method(performance, 'now', () => now() + milliseconds)
  }

  const found = () => {
    const { store } = world.core.files ?? {}
    const parts = join(String(store?.label.replace(/^the folder /, '')), 'parts')
    return existsSync(parts) ? readdirSync(parts) : []
  }
  const nothingIsLeft = async () => {
    await until('no part of it is left', () => found().length === 0)
    assert.deepEqual(await world.rows('select count(*) from uploads'), [[0]])
  }

  for (const way of ways) {
    const [method, path, type] = way
    test(`${method} ${path} as ${type} that trickles is 408, and leaves nothing`, async t => {
      let sent = 0
      const { status, json } = await send(way, controller => {
        later(t, 25_000)
        controller.enqueue(new Uint8Array(1))
        sent++
      })
      assert.deepEqual([status, json.code, sent], [408, 'REQUEST_TIMEOUT', 2])
      await nothingIsLeft()
    })
  }

  /** Lets half a minute pass at once for whoever begins to wait so long from now on, or begins again with the same timer. */
  const withoutPatience = (t: TestContext) => {
    const timers = Object.getPrototypeOf(setTimeout(() => {}, 0))
    const { refresh } = timers
    t.mock.method(timers, 'refresh', function (this: { _idleTimeout: number }) {
      if (this._idleTimeout === 30_000) this._idleTimeout = 1
      return refresh.call(this)
    })
  }

  const plain = ['POST', '/api/files', 'application/pdf', bytes] as const
  const put = ['PUT', '/api/applications/1/cv', 'application/pdf', bytes] as const
  for (const [method, path, type, first] of [...ways, plain, put])
    for (const [framed, length] of [
      ['of a known length', { 'Content-Length': 150_000 }],
      ['in chunks', { 'Transfer-Encoding': 'chunked' }],
    ] as const)
      test(`${method} ${path} as ${type} ${framed} whose sender falls silent is 408 on its connection, and leaves nothing`, async t => {
        const Authorization = `Bearer ${await world.token(2)}`
        const headers = { 'Content-Type': type, Authorization, ...length }
        const asked = request(`${world.url}${path}`, { method, headers })
        const answered = once(asked, 'response')
        asked.write(first)
        await until('it is being received', () => found().length === 1)
        withoutPatience(t)
        asked.write('more')
        const [answer] = await answered
        const { code } = JSON.parse((await answer.toArray()).join(''))
        asked.destroy()
        assert.deepEqual([answer.statusCode, code], [408, 'REQUEST_TIMEOUT'])
        await nothingIsLeft()
      })

  test('a refused file is received to its end, and the next request of its connection is answered', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const Authorization = `Bearer ${await world.token(2)}`
    const ask = async (method: string, path: string, chunks: readonly Uint8Array[]) => {
      const asked = request(`${world.url}${path}`, { method, agent, headers: { Authorization } })
      for (const chunk of chunks) asked.write(chunk)
      asked.end()
      const [answer] = await once(asked, 'response')
      await answer.toArray()
      return [answer.statusCode, asked.reusedSocket]
    }
    const text = [Buffer.alloc(500_000, 'text'), Buffer.alloc(500_000)]
    assert.deepEqual(await ask('PUT', '/api/applications/1/cv', text), [415, false])
    assert.deepEqual(await ask('GET', '/api/members', []), [200, true])
    agent.destroy()
  })
})

suite('many files at once', () => {
  const callers = 20
  const each = 10
  const member = Array.from({ length: callers }, (_, n) => ({ name: `Member ${n}` }))
  const world = forAllTests(() => createWorld({ content: gallery, rows: { member } }))

  /** Begins to send a file whose second part comes when it is time. */
  const begin = async (as: number, text: string, rest: number, whole: Promise<void>) => {
    const parts = [pdf(text), new Uint8Array(Buffer.alloc(rest, 'x'))]
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: async controller => {
          if (parts.length === 1) await whole
          const part = parts.shift()
          if (part) controller.enqueue(part)
          else controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const headers = {
      // Without a socket a body that is not announced as a large one is received before it is looked at.
      ...{ 'Content-Type': 'application/pdf', 'Content-Length': '100000' },
      Authorization: `Bearer ${await world.token(as)}`,
    }
    const asked = { method: 'POST', body, headers, duplex: 'half' } as const
    return (await world.app.request('/api/files', asked)).status
  }

  test('two hundred transfers fit into the memory for bodies, each with a fixed part of it', async () => {
    const { bodies } = world.edge.memory
    const whole = Promise.withResolvers<void>()
    const sent: Promise<number>[] = []
    for (let as = 1; as <= callers; as++)
      for (let n = 0; n < each; n++) sent.push(begin(as, `${as} ${n}`, 80_000, whole.promise))
    await until('all are being received', () => bodies.taken() >= callers * each * 131_072)
    assert.equal(bodies.taken(), callers * each * 131_072)
    whole.resolve()
    assert.deepEqual([...new Set(await Promise.all(sent))], [201])
    assert.equal(bodies.taken(), 0)
  })

  test('one caller alone may have 128 transfers at once, and the next caller finds room', async () => {
    const { bodies } = world.edge.memory
    const whole = Promise.withResolvers<void>()
    const sent = Array.from({ length: 128 }, (_, n) => begin(1, `alone ${n}`, 1, whole.promise))
    await until('all are being received', () => bodies.taken() === 128 * 131_072)
    assert.equal(await begin(1, 'one more', 1, whole.promise), 503)
    sent.push(begin(2, 'of another', 1, whole.promise))
    await until('it is being received', () => bodies.taken() === 129 * 131_072)
    whole.resolve()
    assert.deepEqual([...new Set(await Promise.all(sent))], [201])
  })
})

suite('files that do not fit', () => {
  const world = forAllTests(() => served({ mostFiles: 150_000 }))

  const paper = { 'Content-Type': 'application/pdf' }
  const form = { 'Content-Type': 'multipart/form-data; boundary=cut' }
  const chunked = { 'Transfer-Encoding': 'chunked' }
  const announced = (bytes: number) => ({ 'Content-Length': bytes })
  const part = '--cut\r\nContent-Disposition: form-data; name="file"'
  const [put, post] = ['PUT /api/applications/1/cv', 'POST /api/files'] as const

  /** Sends a head and, unless it announces how much comes, a body without an end; gives what is answered. */
  const send = async (line: string, more: object, first: Uint8Array = pdf('begun')) => {
    const [method, path] = line.split(' ')
    const Authorization = `Bearer ${await world.token(2)}`
    const headers = { Authorization, ...more }
    const asked = request(`${world.url}${path}`, { method, headers })
    let isAnswered = false
    const answered = once(asked, 'response').finally(() => {
      isAnswered = true
    })
    asked.flushHeaders()
    if ('Transfer-Encoding' in more) {
      asked.write(first)
      const chunk = Buffer.alloc(10_000)
      while (!isAnswered)
        if (!asked.write(chunk)) await Promise.race([once(asked, 'drain'), answered])
    }
    const [answer] = await answered
    const { code, errors } = JSON.parse((await answer.toArray()).join(''))
    asked.destroy()
    return [answer.statusCode, code, errors?.[0]?.field]
  }

  const cases: readonly (readonly [number, string, string, object, Uint8Array?])[] = [
    [413, 'PAYLOAD_TOO_LARGE', put, { ...paper, ...announced(200_001) }],
    [413, 'PAYLOAD_TOO_LARGE', post, { ...paper, ...announced(200_001) }],
    [413, 'PAYLOAD_TOO_LARGE', post, { ...form, ...announced(30_000_000) }],
    [507, 'STORAGE_FULL', put, { ...paper, ...announced(150_001) }],
    [507, 'STORAGE_FULL', post, { ...paper, ...announced(150_001) }],
    [507, 'STORAGE_FULL', put, { ...paper, ...chunked }],
    [507, 'STORAGE_FULL', post, { ...paper, ...chunked }],
    [
      507,
      'STORAGE_FULL',
      post,
      { ...form, ...chunked },
      Buffer.from(`${part}; filename="a.pdf"\r\n\r\n%PDF-1.7\n`),
    ],
    // Of a form other fields are counted too.
    [507, 'STORAGE_FULL', post, { ...form, ...chunked }, Buffer.from(`${part}\r\n\r\n`)],
  ]
  for (const [status, code, line, headers, first] of cases)
    test(`${line} with ${JSON.stringify(headers)}${first ? ` and ${String(first.subarray(-12)).trim()}` : ''} is ${code} before its end`, async () => {
      const field = status === 413 && line === put ? 'cv' : undefined
      assert.deepEqual(await send(line, headers, first), [status, code, field])
    })

  test('what is above the share of a caller for uploads that wait is 429 before its end', async () => {
    const raw = pdf('waits')
    assert.equal((await world.ask(post, { as: 2, raw, headers: paper })).status, 201)
    await world.change('update uploads set bytes = 3900000')
    const over = [429, 'RATE_LIMITED', undefined]
    assert.deepEqual(await send(post, { ...paper, ...announced(140_000) }), over)
    assert.deepEqual(await send(post, { ...paper, ...chunked }), over)
    assert.deepEqual(await send(put, { ...paper, ...announced(140_000) }), over)
    await world.change('delete from uploads')
  })
})
