import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQueue } from '#http/queue.ts'

/** A queue on a clock that only the test moves: it tells what was run and what was shed, in order. */
const queueWith = ({ wait = 1000, size = 1000, cost = 1 } = {}) => {
  let at = 0
  const turns: (() => void)[] = []
  const told: string[] = []
  const queue = createQueue({ wait, size }, { now: () => at, later: work => void turns.push(work) })
  const enter = (name: string, isWrite = false) =>
    queue.enter({
      run: () => {
        at += cost
        told.push(name)
      },
      shed: () => void told.push(`no ${name}`),
      isWrite,
    })
  return {
    enter,
    many: (name: string, count: number) => {
      for (let number = 1; number <= count; number++) enter(`${name} ${number}`)
    },
    pass: (milliseconds: number) => {
      at += milliseconds
    },
    /** One turn of the event loop. */
    turn: () => turns.shift()?.(),
    /** All turns until nobody waits. */
    settle: () => {
      while (turns.length > 0) turns.shift()?.()
    },
    told: () => told.splice(0),
    size: queue.size,
  }
}

test('requests are run in the order in which they came, in slices of 5 ms', () => {
  const { many, turn, told } = queueWith()
  many('read', 8)
  assert.deepEqual(told(), [])
  turn()
  assert.deepEqual(told(), ['read 1', 'read 2', 'read 3', 'read 4', 'read 5', 'read 6'])
  turn()
  assert.deepEqual(told(), ['read 7', 'read 8'])
})

test('writes go before reads that came earlier, and among themselves in their order', () => {
  const { enter, settle, told } = queueWith()
  enter('read')
  enter('first write', true)
  enter('second write', true)
  settle()
  assert.deepEqual(told(), ['first write', 'second write', 'read'])
})

test('a request above the size is refused at once', () => {
  const { many, settle, told } = queueWith({ size: 2 })
  many('read', 3)
  assert.deepEqual(told(), ['no read 3'])
  settle()
  assert.deepEqual(told(), ['read 1', 'read 2'])
})

test('a request that waited longer than it may is refused instead of being run', () => {
  const { enter, pass, settle, told } = queueWith({ wait: 100 })
  enter('late')
  pass(101)
  enter('new')
  settle()
  assert.deepEqual(told(), ['no late', 'new'])
})

test('a request that would wait longer than it may is refused at once, by how many wait and what one costs now', () => {
  const { many, enter, turn, told } = queueWith({ wait: 1000, cost: 2.5 })
  // Three are run in each slice; 50 are measured before the queue trusts the mean.
  many('read', 60 + 380)
  for (let number = 0; number < 20; number++) turn()
  assert.equal(told().length, 60)
  // 380 wait, at 2.5 ms each; a write waits for no read.
  enter('as long as it may')
  many('one more', 30)
  const refused = told()
  assert.deepEqual([refused.length > 5, refused.length < 15], [true, true])
  assert.ok(refused.every(name => name.startsWith('no one more')))
  enter('write', true)
  turn()
  assert.equal(told()[0], 'write')
})

test('a stop of the whole process makes nobody wait in vain: what came before is run', () => {
  const { many, pass, turn, settle, told } = queueWith({ wait: 1000 })
  many('before', 10)
  turn()
  many('during', 50)
  pass(900)
  many('after', 50)
  settle()
  assert.deepEqual(
    told().filter(name => name.startsWith('no')),
    [],
  )
})

test('while the queue stands the newest read goes first, and those it passes are refused after a tenth of the wait', () => {
  const { many, enter, pass, turn, told } = queueWith({ wait: 1000, cost: 6 })
  many('old', 60)
  for (let number = 0; number < 43; number++) turn()
  told()
  // A quarter of the wait did not empty it, and those that are left have waited for longer than a tenth.
  enter('newer')
  enter('newest')
  turn()
  const shed = Array.from({ length: 17 }, (_, index) => `no old ${44 + index}`)
  assert.deepEqual(told(), [...shed, 'newest'])
  pass(99)
  turn()
  assert.deepEqual(told(), ['no newer'])
})

test('not more than 25 are refused in a slice while others could be run', () => {
  const { many, enter, turn, told } = queueWith({ wait: 1000, cost: 6 })
  many('old', 90)
  for (let number = 0; number < 43; number++) turn()
  told()
  enter('new')
  turn()
  const names = told()
  assert.equal(names.filter(name => name.startsWith('no')).length, 25)
  assert.equal(names.at(-1), 'new')
})

test('writes keep their order while the queue stands', () => {
  const { many, enter, turn, told } = queueWith({ wait: 1000, cost: 6 })
  many('old', 60)
  for (let number = 0; number < 43; number++) turn()
  told()
  enter('first write', true)
  enter('second write', true)
  turn()
  turn()
  assert.deepEqual(
    told().filter(name => !name.startsWith('no')),
    ['first write', 'second write'],
  )
})

test('after it was empty the queue is in order again', () => {
  const { many, enter, settle, turn, told } = queueWith({ wait: 1000, cost: 6 })
  many('old', 60)
  for (let number = 0; number < 50; number++) turn()
  settle()
  told()
  enter('first')
  enter('second')
  settle()
  assert.deepEqual(told(), ['first', 'second'])
})

test('what many requests leave behind is given back', () => {
  const { many, settle, told, size } = queueWith({ wait: 1_000_000, size: 100_000, cost: 0.1 })
  many('read', 5000)
  settle()
  assert.equal(size(), 0)
  assert.deepEqual(told().slice(-1), ['read 5000'])
})
