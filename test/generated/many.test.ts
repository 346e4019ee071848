/** Writes of many rows by conditions, and of rows with parts: any of them does what it does in memory, for whoever asks, in both APIs. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Condition } from '#model/condition.ts'
import { type Draw, drawing, numbers } from '../operations.ts'
import { rounds, seed } from '../support/rounds.ts'
import { engines } from './compare.ts'
import { type Cook, type Kitchen, kitchenOn } from './cooking.ts'
import {
  admin,
  type Change,
  createMemory,
  entities,
  type Input,
  type Parts,
  Refused,
} from './many-rows.ts'

const statuses = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  BAD_USER_INPUT: 422,
} as const

type Memory = ReturnType<typeof createMemory>

/** A condition on boxes or items. */
const conditionBy = (draw: Draw, of: 'box' | 'item', depth = 0): Condition => {
  const { chance, upTo, of: one } = draw
  if (depth < 3 && chance(30)) {
    const [a, b] = [conditionBy(draw, of, depth + 1), conditionBy(draw, of, depth + 1)]
    return one<Condition>({ and: [a, b] }, { or: [a, b] }, { not: a })
  }
  if (of === 'item')
    return one<Condition>(
      { id: { in: [upTo(30, 1), upTo(30, 1), upTo(30, 1)] } },
      { name: { eq: one('a', 'b', 'bad', 'kept') } },
      { rare: { eq: chance(50) } },
      { boxId: { in: [upTo(20, 1), upTo(20, 1), upTo(20, 1)] } },
      { box: depth > 2 ? { size: { isNull: false } } : conditionBy(draw, 'box', depth + 1) },
    )
  const which = one('some', 'none')
  return one<Condition>(
    { id: { in: [upTo(20, 1), upTo(20, 1), upTo(20, 1)] } },
    { id: { notIn: [upTo(20, 1), upTo(20, 1)] } },
    { name: { eq: `n${upTo(20)}` } },
    { size: one<Condition>({ eq: upTo(3) }, { lte: upTo(3) }, { isNull: true }, { ne: 3 }) },
    { open: { eq: chance(50) } },
    { state: { eq: one('new', 'used') } },
    { ownerId: { eq: upTo(3, 1) } },
    { above: { size: { gte: 1 } } },
    { items: { [which]: depth > 2 ? {} : conditionBy(draw, 'item', depth + 1) } },
    { labels: { [which]: { slug: { eq: one('x', 'y', 'z') } } } },
    ...(chance(10) ? [{ code: { isNull: true } }] : []),
  )
}

const boxBy = ({ of, upTo, chance }: Draw, memory: Memory, isNew: boolean): Change => ({
  ...((isNew || chance(15)) && { name: `n${upTo(isNew ? 60 : 20)}` }),
  ...(chance(40) && { size: of(0, 0, 1, 1, 2, 2, 3, null) }),
  ...(chance(40) && { open: chance(60) }),
  ...(chance(20) && { state: of('new', 'used') }),
  ...(chance(20) && { code: of('c', null) }),
  ...(chance(10) && { ownerId: of(1, 1, 2, 3, 3, 9) }),
  ...(chance(25) && { aboveId: of(null, 999, ...memory.tables().box.map(({ id }) => Number(id))) }),
})

const itemBy = ({ of, chance }: Draw, isNew: boolean): Change => ({
  ...((isNew || chance(60)) && { name: of('a', 'b', 'c', 'a', 'b', 'c', 'bad', 'kept') }),
  ...(chance(30) && { rare: chance(50) }),
})

const listBy = <One>({ upTo }: Draw, most: number, make: () => One): readonly One[] =>
  Array.from({ length: upTo(most) }, make)

/** What an input says of the rows below a box; those that there are mostly. */
const partsBy = (draw: Draw, memory: Memory, id: number | undefined): Parts => {
  const { chance, of } = draw
  const below = memory.tables().item.filter(({ boxId }) => boxId === id || chance(3))
  const ids = below.map(row => Number(row.id)).filter(() => chance(40))
  const [changed, gone] = [ids.filter((_, at) => at % 2 === 0), ids.filter((_, at) => at % 2)]
  const labels = () => [...new Set(listBy(draw, 3, () => of(1, 2, 3, 4, 4, chance(10) ? 9 : 1)))]
  const created = { create: listBy(draw, 2, () => itemBy(draw, true)) }
  const isNew = id === undefined
  return {
    ...(chance(70) && {
      items: isNew
        ? created
        : {
            ...(chance(50) && created),
            ...(chance(60) && { update: changed.map(id => ({ id, ...itemBy(draw, false) })) }),
            ...(chance(60) && { delete: gone }),
          },
    }),
    ...(chance(50) && {
      labels:
        isNew || chance(50)
          ? { set: labels() }
          : { ...(chance(60) && { add: labels() }), ...(chance(60) && { remove: labels() }) },
    }),
  }
}

const inputBy = (draw: Draw, memory: Memory, id: number | undefined): Input => ({
  given: boxBy(draw, memory, id === undefined),
  parts: partsBy(draw, memory, id),
})

const bodyOf = ({ given, parts }: Input): object => ({ ...given, ...parts })

/** A value as it stands in a document; words of enums have no quotes. */
const literal = (value: unknown, key = ''): string => {
  if (Array.isArray(value)) return `[${value.map(one => literal(one, key)).join()}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value).map(([of, one]) => `${of}: ${literal(one, of === 'eq' ? key : of)}`)}}`
  return key === 'state' && value !== null ? String(value) : JSON.stringify(value)
}

type Asked = {
  readonly rest: readonly [line: string, body: object]
  /** The field of a mutation, without its selection. */
  readonly field: string
  readonly selection: string
  /** Gives the ids of the rows; throws `Refused`. */
  readonly expected: () => readonly number[]
}

/** A write, and what it comes to in memory. */
const writeBy = (draw: Draw, memory: Memory, who: Cook): Asked => {
  const { of, chance, upTo } = draw
  const boxes = memory.tables().box.map(({ id }) => Number(id))
  const selection = '{ count ids }'
  if (boxes.length < 4 || chance(boxes.length < 25 ? 15 : 2)) {
    const inputs = listBy(draw, 3, () => inputBy(draw, memory, undefined))
    const rows = inputs.map(bodyOf)
    return {
      rest: ['POST /api/v2/boxes/bulk', { create: rows }],
      field: `createBoxes(inputs: ${literal(rows)})`,
      selection,
      expected: () => memory.createMany(who, inputs),
    }
  }
  if (chance(40)) {
    const id = chance(5) ? 999 : of(...boxes)
    const input = inputBy(draw, memory, id)
    return {
      rest: [`PATCH /api/v2/boxes/${id}`, bodyOf(input)],
      field: `updateBox(id: ${id}, input: ${literal(bodyOf(input))})`,
      selection: '{ id }',
      expected: () => [memory.updateOne(who, id, input)],
    }
  }
  const kind = of('box', 'box', 'item')
  const plural = kind === 'box' ? 'boxes' : 'items'
  const title = kind === 'box' ? 'Boxes' : 'Items'
  const where = chance(5) ? {} : conditionBy(draw, kind)
  const options = {
    ...(chance(upTo(1) ? 90 : 10) && { all: chance(80) }),
    ...(chance(20) && { dryRun: true }),
  }
  const line = `POST /api/v2/${plural}/bulk`
  const rest = Object.entries({ where, ...options }).map(([key, one]) => `${key}: ${literal(one)}`)
  if (chance(boxes.length > 15 ? 50 : 20))
    return {
      rest: [line, { delete: true, where, ...options }],
      field: `delete${title}(${rest})`,
      selection,
      expected: () => memory.deleteMany(who, kind, where, options),
    }
  const input = kind === 'box' ? boxBy(draw, memory, false) : itemBy(draw, false)
  return {
    rest: [line, { update: input, where, ...options }],
    field: `update${title}(${[...rest, `input: ${literal(input)}`]})`,
    selection,
    expected: () => memory.updateMany(who, kind, where, input, options),
  }
}

/** All rows as the memory has them, as the admin sees them. */
const rowsIn = (memory: Memory) => {
  const { box, item, boxLabel } = memory.tables()
  return box.map(row => {
    const items = item.filter(({ boxId }) => boxId === row.id)
    const labels = boxLabel.filter(({ boxId }) => boxId === row.id)
    return {
      ...row,
      open: row.open === 1,
      linkCount: labels.length,
      items: items.map(({ boxId, ...one }) => ({ ...one, rare: one.rare === 1 })),
      labels: labels.map(({ labelId }) => Number(labelId)).sort((a, b) => a - b),
    }
  })
}

const tables = [
  ['boxes', 'box'],
  ['items', 'item'],
  ['box_labels', 'boxLabel'],
] as const

type Found = Readonly<Record<string, unknown>> & { readonly id: string }

/** All rows that the store has. */
const rowsOf = async (kitchen: Kitchen) => {
  const { data } = await kitchen.run(
    admin,
    `{ boxes(limit: 100) { id name size open state code ownerId aboveId linkCount revision
      items(limit: 100) { id name rare revision } labels(limit: 100) { id } } }`,
  )
  const numbered = ({ id, ...row }: Found) => ({ id: Number(id), ...row })
  const idOf = (value: unknown) => (value === null ? null : Number(value))
  return data.boxes
    .map(({ items, labels, ownerId, aboveId, ...row }: Found) => ({
      ...numbered(row as Found),
      ownerId: idOf(ownerId),
      aboveId: idOf(aboveId),
      items: (items as Found[]).map(numbered).sort((a, b) => a.id - b.id),
      labels: (labels as Found[]).map(({ id }) => Number(id)).sort((a, b) => a - b),
    }))
    .sort((a: { id: number }, b: { id: number }) => a.id - b.id)
}

for (const on of engines)
  describe(`writes of many rows on ${on}`, () => {
    let kitchen: Kitchen
    before(async () => {
      kitchen = await kitchenOn(on, entities)
    })
    after(async () => {
      assert.deepEqual(kitchen?.bugs, [])
      await kitchen?.close()
    })

    /** The status, and the ids that came; on success alone there are some. */
    const ask = async (who: Cook, { rest, field, selection }: Asked, byGraphql: boolean) => {
      if (!byGraphql) {
        const [line, body] = rest
        const { status, json } = await kitchen.say(who, line, body)
        return { status: status < 300 ? 200 : status, ids: json?.ids ?? [json?.id] }
      }
      const { code, data } = await kitchen.run(who, `mutation { done: ${field} ${selection} }`)
      if (code !== undefined) return { status: statuses[code as keyof typeof statuses] ?? code }
      const { ids = [data.done.id], count = ids.length } = data.done
      assert.equal(count, ids.length)
      return { status: 200, ids: ids.map(Number) }
    }

    test('each does what it does in memory, and nothing where it is refused', async () => {
      const memory = createMemory(on === 'postgres')
      for (const [slug, closed] of [
        ['x', 0],
        ['y', 0],
        ['z', 0],
        ['z', 1],
      ] as const) {
        const made = await kitchen.say(admin, 'POST /api/v2/labels', { slug, closed: closed === 1 })
        assert.equal(made.status, 201, made.text)
        memory.add('label', { slug, closed })
      }
      const [stream] = fc.sample(numbers, { seed: seed(29), numRuns: 1 })
      const draw = drawing(stream as fc.Stream<number>)
      for (let round = 0; round < rounds(60, 3000); round++) {
        const who = draw.of<Cook>(1, 1, 3, admin, admin, draw.chance(10) ? null : 1)
        const asked = writeBy(draw, memory, who)
        const expected: { status: number; ids?: readonly number[] } = { status: 200 }
        try {
          expected.ids = asked.expected()
        } catch (error) {
          if (!(error instanceof Refused)) throw error
          expected.status = error.status
        }
        const byGraphql = draw.chance(50)
        const { status, ids } = await ask(who, asked, byGraphql)
        const about = `${round} ${who} ${byGraphql ? asked.field : JSON.stringify(asked.rest)}`
        assert.equal(status, expected.status, about)
        if (expected.ids) assert.deepEqual(ids, expected.ids, about)
        // A refused insert uses an id up on PostgreSQL.
        for (const [table, of] of status === 200 ? [] : tables)
          await kitchen.align(table, memory.last[of] + 1)
        assert.deepEqual(await rowsOf(kitchen), rowsIn(memory), about)
        if (draw.chance(5) && status === 200) {
          const [first] = memory.tables().box.filter(({ open }) => open === 1)
          if (!first) continue
          const pinned = await kitchen.say(3, 'POST /api/v2/pins', { boxId: first.id })
          if (pinned.status === 201) memory.add('pin', { boxId: first.id as number, keeperId: 3 })
        }
      }
    })
  })
