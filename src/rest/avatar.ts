/** A user's picture: until one is stored, an identicon that is the same for ever for that id. */
import { hash } from 'node:crypto'
import { plan } from '#read/plan.ts'
import { notFound, prepare, read } from '#read/read.ts'
import { after, type Mount, pathId, represent, type Serve } from '#rest/reads.ts'
import type { Extra } from '#rest/rest.ts'

const cells = 5

/** An SVG of five by five cells, mirrored, whose pattern and hue come from the id alone. */
export const identicon = (id: number): string => {
  const bytes = hash('sha256', `avatar ${id}`, 'buffer')
  const hue = ((bytes[0] ?? 0) * 256 + (bytes[1] ?? 0)) % 360
  const squares: string[] = []
  for (let row = 0; row < cells; row++)
    for (let column = 0; column < Math.ceil(cells / 2); column++) {
      if ((bytes[2 + row * 3 + column] ?? 0) % 2 === 0) continue
      for (const x of new Set([column, cells - 1 - column]))
        squares.push(`M${x + 0.5} ${row + 0.5}h1v1h-1z`)
    }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 6 6" width="120" height="120" role="img"><rect width="6" height="6" fill="hsl(${hue},30%,94%)"/><path fill="hsl(${hue},55%,45%)" d="${squares.join('')}"/></svg>`
}

const safe = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'X-Content-Type-Options': 'nosniff',
}

const serve = ({ core, edge }: Mount): Serve => {
  const { model, dialect, limits } = core
  // Whether the user is there: anyone may ask that, as anyone may see who wrote a post.
  const where = [{ field: 'id', is: 'equals', slot: 1 }] as const
  const items = [{ kind: 'field', key: 'id', field: 'id' }] as const
  const root = {
    entity: 'user',
    items,
    where,
    exists: [],
    sort: [],
    many: false,
    page: null,
    peek: false,
    total: false,
  }
  const there = prepare(
    plan({ encoding: 'rest', roots: [root] }, model, 'user'),
    dialect,
    0,
    limits,
  )
  return (c, viewer, named) => {
    const id = pathId(c, 'id', 'user')
    return after(read(core.reader, there, [viewer.id, id]), ([answer]) => {
      if (answer?.text === 'null') throw notFound('user', id)
      const reply = represent(c, edge, identicon(id), { named, isPublic: true })
      const type = reply.status === 200 ? { 'Content-Type': 'image/svg+xml' } : {}
      return { ...reply, headers: { ...reply.headers, ...safe, ...type } }
    })
  }
}

export const avatarRead: Extra = { method: 'GET', path: '/users/:id/avatar', serve }
