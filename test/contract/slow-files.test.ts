/** Files whose senders send so little that they take up room for nothing. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { gallery, galleryRows, pdf } from '../support/gallery.ts'
import { createWorld, type World } from '../world.ts'

suite('slow files', () => {
  let world: World
  before(async () => {
    world = await createWorld({ content: gallery, rows: galleryRows })
  })
  after(() => world.close())

  const bytes = Buffer.concat([pdf('long'), Buffer.alloc(9000)])
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

  const nothingIsLeft = async () => {
    const { store } = world.core.files ?? {}
    const parts = join(String(store?.label.replace(/^the folder /, '')), 'parts')
    const found = () => (existsSync(parts) ? readdirSync(parts) : [])
    for (let left = 1000; found().length > 0 && left > 0; left--) await turn()
    assert.deepEqual(found(), [])
    assert.deepEqual(await world.rows('select count(*) from uploads'), [[0]])
  }

  for (const way of ways) {
    const [method, path, type] = way
    test(`${method} ${path} as ${type} that trickles is 408, and leaves nothing`, async t => {
      const { status, json } = await send(way, controller => {
        later(t, 60_000)
        controller.enqueue(new Uint8Array(1))
      })
      assert.deepEqual([status, json.code], [408, 'REQUEST_TIMEOUT'])
      await nothingIsLeft()
    })
  }
})
