import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { drive, type QueryScript } from '#sql/engine.ts'
import { and, column, comma, join, name, parameter, slot, sql, statement } from '#sql/sql.ts'

const sqlite = (n: number) => `?${n}`
const postgres = (n: number) => `$${n}`

test('a template becomes a text with placeholders, and its parameters in order', () => {
  const piece = sql`select ${column('t', 'name')} from ${name('users')} where a = ${1} and b = ${'x'}`
  assert.deepEqual(statement(piece, sqlite), {
    text: 'select "t"."name" from "users" where a = ?1 and b = ?2',
    parameters: [
      { kind: 'value', value: 1 },
      { kind: 'value', value: 'x' },
    ],
  })
})

test('placeholders are numbered anew in each statement that a piece stands in', () => {
  const condition = sql`a = ${slot(3)}`
  const whole = sql`select ${7} where ${condition} or ${condition}`
  assert.equal(statement(whole, postgres).text, 'select $1 where a = $2 or a = $3')
  assert.deepEqual(
    statement(whole, postgres).parameters.map(({ kind }) => kind),
    ['value', 'slot', 'slot'],
  )
})

test('a plain value in a template is bound, whatever its type', () => {
  const bytes = new Uint8Array([1, 2])
  const values = ['1; drop table users', 1.5, 2n, null, bytes]
  const [text, number, big, none] = values as [string, number, bigint, null]
  const piece = sql`select ${text}, ${number}, ${big}, ${none}, ${bytes} in (${join([1, 'x'], comma)})`
  assert.deepEqual(statement(piece, sqlite), {
    text: 'select ?1, ?2, ?3, ?4, ?5 in (?6, ?7)',
    parameters: [...values, 1, 'x'].map(value => ({ kind: 'value', value })),
  })
})

test('what is neither a piece nor a value does not compile, and is refused when it runs', () => {
  const forged = { texts: ['drop table users'], parameters: [] }
  // @ts-expect-error: it only looks like a piece.
  assert.throws(() => sql`select ${forged}`, TypeError)
  // @ts-expect-error: absence is no value of a database.
  assert.throws(() => sql`select ${undefined}`, TypeError)
  // @ts-expect-error: flags are 0 and 1.
  assert.throws(() => sql`select ${true}`, TypeError)
})

test('whatever a value holds, none of it gets into the text [G13]', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (first, second) => {
      const { text, parameters } = statement(
        sql`select 1 where a = ${first} and b = ${second}`,
        sqlite,
      )
      assert.equal(text, 'select 1 where a = ?1 and b = ?2')
      assert.deepEqual(
        parameters.map(parameter => parameter.kind === 'value' && parameter.value),
        [first, second],
      )
    }),
  )
})

test('a quote inside a name stays inside it [G13]', () => {
  assert.equal(statement(name('a"; drop table "b'), sqlite).text, '"a""; drop table ""b"')
})

test('pieces are joined with what stands between them, none at all as nothing', () => {
  const parts = ['a', 'b', 'c'].map(name)
  assert.equal(statement(join(parts, comma), sqlite).text, '"a", "b", "c"')
  assert.equal(statement(sql`x${join([], comma)}y`, sqlite).text, 'xy')
})

test('no conditions at all always hold', () => {
  assert.equal(statement(and([]), sqlite).text, 'true')
  assert.equal(statement(and([sql`a`, sql`b`]), sqlite).text, 'a and b')
})

test('every kind of parameter keeps its position among the others', () => {
  const piece = sql`${parameter({ kind: 'keys' })} ${parameter({ kind: 'budget' })} ${slot(0)}`
  assert.deepEqual(
    statement(piece, sqlite).parameters.map(({ kind }) => kind),
    ['keys', 'budget', 'slot'],
  )
})

test('an error of a query is thrown where the work asked for it, which may go on', () => {
  const work = function* (): QueryScript<string> {
    try {
      yield { text: 'bad', values: [] }
      return 'never'
    } catch (error) {
      const rows = yield { text: 'good', values: [] }
      return `${(error as Error).message}, then ${rows[0]?.[0]}`
    }
  }
  const result = drive(work(), ({ text }) => {
    if (text === 'bad') throw new Error('refused')
    return [['served']]
  })
  assert.equal(result, 'refused, then served')
})

test('an error that the work does not catch ends it', () => {
  const work = function* (): QueryScript<number> {
    yield { text: 'bad', values: [] }
    return 1
  }
  assert.throws(
    () =>
      drive(work(), () => {
        throw new Error('refused')
      }),
    /refused/,
  )
})
