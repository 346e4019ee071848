import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQueue } from '#http/queue.ts'

type Given = { wait?: number; size?: number; cost?: number; refusal?: number }

/** A queue on a clock that only the test moves: it tells what was run and what was shed, in order. */
const queueWith = ({ wait = 1000, size = 1000, cost = 1, refusal = 0 }: Given = {}) => {
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
      shed: () => {
        at += refusal
        told.push(`no ${name}`)
      },
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
    keepPlace: queue.keepPlace,
    entered: queue.entered,
    leavePlace: queue.leavePlace,
  }
}

const isRefusal = (name: string) => name.startsWith('no ')

test('requests are run in the order in which they came, in slices of 5 ms', () => {
  const { many, turn, told } = queueWith()
  many('read', 8)
  assert.deepEqual(told(), [])
  turn()
  assert.deepEqual(told(), ['read 1', 'read 2', 'read 3', 'read 4', 'read 5', 'read 6'])
  turn()
  assert.deepEqual(told(), ['read 7', 'read 8'])
})

test('reads go before writes that came earlier, of which eight are run in a turn', () => {
  const { enter, turn, told } = queueWith({ cost: 0.1 })
  const names = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `write ${from + index}`)
  for (const name of names(1, 20)) enter(name, true)
  enter('first read')
  enter('second read')
  turn()
  assert.deepEqual(told(), ['first read', 'second read', ...names(1, 8)])
  enter('third read')
  turn()
  assert.deepEqual(told(), ['third read', ...names(9, 16)])
  turn()
  assert.deepEqual(told(), names(17, 20))
})

test('once a read has waited for longer than a slice, all writes go before reads', () => {
  const { enter, many, turn, told } = queueWith()
  many('read', 8)
  turn()
  told()
  for (let number = 1; number <= 3; number++) enter(`write ${number}`, true)
  turn()
  assert.deepEqual(told(), ['write 1', 'write 2', 'write 3', 'read 7', 'read 8'])
})

test('where reads fill each slice, a write waits for one of them', () => {
  const { enter, many, turn, told } = queueWith()
  enter('write 1', true)
  many('read', 12)
  turn()
  enter('write 2', true)
  turn()
  assert.deepEqual(
    told().flatMap((name, index) => (name.startsWith('write') ? [index] : [])),
    [6, 7],
  )
})

test('where writes come faster than some are run in a turn, those that waited for longer than a slice are run for a whole one', () => {
  const { enter, pass, turn, told } = queueWith({ cost: 0.1 })
  for (let number = 1; number <= 100; number++) enter(`write ${number}`, true)
  pass(6)
  turn()
  assert.equal(told().length, 51)
})

test('a request above the size is refused in the same turn, after those that are run', () => {
  const { many, turn, told } = queueWith({ size: 2 })
  many('read', 3)
  turn()
  assert.deepEqual(told(), ['read 1', 'read 2', 'no read 3'])
})

test('a request that waited five times as long as it may is refused instead of being run', () => {
  const { enter, pass, settle, told } = queueWith({ wait: 100 })
  enter('late')
  pass(1)
  enter('just in time')
  pass(500)
  enter('new')
  settle()
  assert.deepEqual(told(), ['just in time', 'new', 'no late'])
})

test('a request that would wait longer than it may is refused, by how many wait and what one costs now', () => {
  const { many, enter, turn, told } = queueWith({ wait: 1000, cost: 2.5 })
  // Three are run in each slice; 50 are measured before the queue trusts the mean.
  many('read', 60 + 380)
  for (let number = 0; number < 20; number++) turn()
  assert.equal(told().length, 60)
  // 380 wait, at 2.5 ms each; a write waits for no read.
  enter('as long as it may')
  many('one more', 30)
  enter('write', true)
  turn()
  const [first, ...others] = told()
  assert.equal(first, 'write')
  const refused = others.filter(isRefusal)
  assert.deepEqual([refused.length > 5, refused.length < 15], [true, true])
  assert.ok(refused.every(name => name.startsWith('no one more')))
})

test('the time to take requests in counts too, but not a time in which nobody waited', () => {
  const firstRefusedAfter = (taking: number, idle: number) => {
    const { many, pass, turn, settle, told } = queueWith({ wait: 100, cost: 1 })
    many('first', 6)
    for (let number = 0; number < 20; number++) {
      many('more', 6)
      pass(6 * taking)
      turn()
    }
    settle()
    pass(idle)
    told()
    many('read', 120)
    turn()
    return told().find(isRefusal)
  }
  assert.equal(firstRefusedAfter(0, 0), 'no read 102')
  assert.equal(firstRefusedAfter(0, 1000), 'no read 102')
  assert.equal(firstRefusedAfter(1, 0), 'no read 52')
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

/** Fills a queue above what may wait, all costs known; gives the first turns' names. */
const overfilled = (refusal: number) => {
  const queue = queueWith({ wait: 100, cost: 1, refusal })
  const { many, turn, settle, told } = queue
  many('first', 60)
  settle()
  many('second', 300)
  settle()
  many('read', 400)
  // What was saved up for refusals is used up.
  for (let number = 0; number < 4; number++) turn()
  told()
  return queue
}

test('while requests wait to be run, an eighth of the time at most goes to refusals', () => {
  const { turn, told } = overfilled(1)
  for (let number = 0; number < 8; number++) turn()
  const names = told()
  assert.equal(names.filter(name => !isRefusal(name)).length, 48)
  assert.equal(names.filter(isRefusal).length, 6)
})

test('the less a refusal takes the more are refused in that time', () => {
  const { turn, told } = overfilled(0.25)
  for (let number = 0; number < 8; number++) turn()
  assert.equal(told().filter(isRefusal).length, 24)
})

test('once nobody waits to be run, those that waited for longer than they may are refused', () => {
  const { settle, told, size } = overfilled(1)
  settle()
  assert.ok(told().filter(isRefusal).length > 150)
  assert.equal(size(), 0)
})

test('where requests turn out to be cheaper than they were, those that were to be refused are run after all', () => {
  let cost = 10
  let at = 0
  let turn: (() => void) | undefined
  const told: string[] = []
  const later = (work: () => void) => {
    turn = work
  }
  const clock = { now: () => at, later }
  const queue = createQueue({ wait: 100, size: 1000 }, clock)
  const run = () => {
    at += cost
    told.push('run')
  }
  const enter = () => queue.enter({ run, shed: () => void told.push('shed') })
  const settle = () => {
    while (queue.size() > 0) turn?.()
  }
  for (let number = 0; number < 80; number++) {
    enter()
    settle()
  }
  told.splice(0)
  cost = 0.1
  for (let number = 0; number < 200; number++) enter()
  settle()
  const refused = told.filter(what => what === 'shed').length
  assert.ok(refused < 60, `${refused} of 200 are refused`)
})

test('those that are refused wait for no more than a slice of the others, and are refused in the order in which they came', () => {
  const { many, turn, told } = queueWith({ size: 12 })
  many('read', 20)
  turn()
  const names = told().filter(isRefusal)
  assert.deepEqual(
    names,
    Array.from({ length: 8 }, (_, index) => `no read ${13 + index}`),
  )
})

test('what many requests leave behind is given back', () => {
  const { many, settle, told, size } = queueWith({ wait: 1_000_000, size: 100_000, cost: 0.1 })
  many('read', 5000)
  settle()
  assert.equal(size(), 0)
  assert.deepEqual(told().slice(-1), ['read 5000'])
})

test('those that wait elsewhere until they enter count among those that wait', () => {
  const { enter, settle, told, size, entered, keepPlace, leavePlace } = queueWith({ size: 3 })
  enter('read 1')
  assert.equal(keepPlace(), true)
  assert.equal(size(), 2)
  assert.equal(entered(), 1)
  enter('read 2')
  assert.equal(keepPlace(), false)
  enter('read 3')
  leavePlace()
  enter('read 4')
  assert.equal(size(), 4)
  settle()
  assert.deepEqual(told().sort(), ['no read 3', 'read 1', 'read 2', 'read 4'])
})
