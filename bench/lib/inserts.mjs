/** Inserts of comments beside a server written by hand and PocketBase: rates and processor time with one caller, 32 and 128. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { prepare } from './dataset.mjs'
import { patient } from './duet.mjs'
import { load } from './load.mjs'
import { measure } from './measure.mjs'
import { inFolder } from './on-copy.mjs'
import { hasPocketbase, idOf, servePocketbase } from './pocketbase.mjs'
import { printWorkload } from './report.mjs'
import { servePeer } from './servers.mjs'

const callers = [1, 32, 128]
const text = 'Of the bench'

/** Measures and prints them; a peer that cannot be run is a line, and its rows are left out. */
export async function measureInserts(options, { duet, log }) {
  const { files } = await prepare(duet, options)
  return await inFolder(async folder => {
    const copyFor = name => {
      const copy = join(folder, `${name}.db`)
      copyFileSync(files.all, copy)
      return copy
    }
    const own = copyFor('duet')
    const ask = { method: 'POST', path: '/api/posts/1/comments', body: JSON.stringify({ text }) }
    const ofPocketbase = { text, post: idOf(1), author: idOf(1) }
    const starts = {
      duet: async () => ({ ask, server: await duet.serve(own, log('inserts'), patient) }),
      fastify: async () => ({
        ask,
        server: await servePeer(
          'fastify-writes',
          copyFor('fastify'),
          log('fastify-writes'),
          duet.secret,
        ),
      }),
      pocketbase: async () => {
        if (!hasPocketbase()) throw new Error('npm installs no program of it that runs here')
        return {
          ask: {
            method: 'POST',
            path: '/api/collections/comments/records',
            body: JSON.stringify(ofPocketbase),
          },
          server: await servePocketbase(files.all, folder, log('pocketbase')),
        }
      },
    }
    const token = await duet.token(own)
    const contenders = []
    for (const [name, start] of Object.entries(starts))
      try {
        const { ask, server } = await start()
        const asked = { ...ask, url: server.url + ask.path, token }
        try {
          await load('counted', asked, 1, 1)
        } catch (error) {
          await server.stop()
          throw error
        }
        contenders.push({ name, server, asked })
      } catch (error) {
        if (name === 'duet') throw error
        console.log(`${name} is left out: ${error.message}\n`)
      }
    const results = []
    for (const many of callers) {
      const run =
        ({ asked }) =>
        length =>
          load(options.tool, asked, length, many)
      const rows = await measure(
        contenders.map(one => ({ ...one, run: run(one) })),
        options,
      )
      const result = { title: `POST a comment, callers: ${many}`, bytes: ask.body.length, rows }
      printWorkload(result)
      results.push({ callers: many, ...result })
    }
    for (const { server } of contenders) await server.stop()
    return results
  })
}
