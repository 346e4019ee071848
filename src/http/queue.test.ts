import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQueue } from '#http/queue.ts'

type Given = {
  wait?: number
  writeWait?: number
  takesTurns?: boolean
  size?: number
  cost?: number
  refusal?: number
  /** Writes are answered when the test says so, and not at once. */
  areWritesHeld?: boolean
}

/** A queue on a clock that only the test moves: it tells what was run and what was shed, in order. */
const queueWith = (given: Given = {}) => {
  const { wait = 1000, writeWait = 5000, size = 1000, cost = 1, refusal = 0 } = given
  const { takesTurns = true } = given
  let at = 0
  const turns: (() => void)[] = []
  const told: string[] = []
  const answers: (() => void)[] = []
  const queue = createQueue(
    { wait, writeWait, takesTurns, size },
    { now: () => at, later: work => void turns.push(work) },
  )
  const enter = (name: string, isWrite = false, caller = '') =>
    queue.enter({
      run: () => {
        at += cost
        told.push(name)
        if (!isWrite || !given.areWritesHeld) return undefined
        return new Promise<void>(resolve => answers.push(resolve))
      },
      shed: (isLast = false) => {
        at += refusal
        told.push(`no ${name}${isLast ? ' any more' : ''}`)
      },
      isWrite,
      caller,
    })
  return {
    enter,
    many: (name: string, count: number, isWrite = false) => {
      for (let number = 1; number <= count; number++) enter(`${name} ${number}`, isWrite)
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
    /** So many writes are answered, each so long after the one before it: the oldest, or the newest. */
    answer: async (count: number, milliseconds: number, isNewest = false) => {
      for (let number = 0; number < count; number++) {
        at += milliseconds
        const answered = isNewest ? answers.pop() : answers.shift()
        answered?.()
        await new Promise(resolve => setImmediate(resolve))
      }
    },
    told: () => told.splice(0),
    size: queue.size,
    giveWay: queue.giveWay,
  }
}

const isRefusal = (name: string) => name.startsWith('no ')

test('requests are run in the order in which they came, in slices of 5 ms [H12]', () => {
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

test('once a read has waited for longer than a slice, all writes go before reads [H4]', () => {
  const { enter, many, turn, told } = queueWith()
  many('read', 8)
  turn()
  told()
  for (let number = 1; number <= 3; number++) enter(`write ${number}`, true)
  turn()
  assert.deepEqual(told(), ['write 1', 'write 2', 'write 3', 'read 7', 'read 8'])
})

test('where reads fill each slice, a write waits for one of them [H4]', () => {
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

test('reads above the size wait to be refused, oldest first; above twice the size each is refused at once, and its connection ends [H2]', () => {
  const { many, turn, told } = queueWith({ size: 6 })
  many('read', 13)
  assert.deepEqual(told(), ['no read 13 any more'])
  turn()
  assert.deepEqual(told(), ['read 1', 'read 2', 'read 3', 'read 4', 'read 5', 'read 6'])
  many('more', 2)
  turn()
  assert.deepEqual(told().filter(isRefusal), [])
  const { many: fill, turn: next, told: said } = queueWith({ size: 4 })
  fill('early', 8)
  fill('late', 8)
  next()
  next()
  assert.deepEqual(said().filter(name => name.endsWith('any more')).length, 8)
})

test('writes above the size are refused at once', () => {
  const { many, told } = queueWith({ size: 2 })
  many('write', 3, true)
  assert.deepEqual(told(), ['no write 3'])
})

test('a read that waited for longer than it may is refused instead of being run [H2]', () => {
  const { enter, pass, settle, told } = queueWith({ wait: 100 })
  enter('late')
  pass(1)
  enter('just in time')
  pass(100)
  enter('new')
  settle()
  assert.deepEqual(told(), ['new', 'just in time', 'no late'])
})

test('once a read waited for too long the newest is run first, until none is left [H1]', () => {
  const { enter, many, pass, turn, settle, told } = queueWith({ wait: 100 })
  enter('late')
  pass(101)
  many('read', 8)
  turn()
  assert.deepEqual(told(), ['read 8', 'read 7', 'read 6', 'read 5', 'read 4', 'read 3', 'no late'])
  enter('newest')
  settle()
  assert.deepEqual(told(), ['newest', 'read 2', 'read 1'])
  many('again', 3)
  settle()
  assert.deepEqual(told(), ['again 1', 'again 2', 'again 3'])
})

test('a burst of writes is taken while nothing is known of their rate [H6]', () => {
  const { many, told } = queueWith({ writeWait: 100, size: 5000 })
  many('write', 5000, true)
  assert.deepEqual(told(), [])
})

/** A queue whose writes were measured to take 10 ms each; so many of them are not answered. */
const measured = async (unanswered: number, takesTurns = true) => {
  const queue = queueWith({ writeWait: 1000, takesTurns, cost: 0, areWritesHeld: true })
  queue.many('first', 100 + unanswered, true)
  queue.settle()
  await queue.answer(100, 10)
  queue.told()
  return queue
}

test('a write is refused when it comes where those before it take longer than it may wait, by the rate at which they are answered [H6]', async () => {
  const { enter, answer, settle, told } = await measured(101)
  enter('too late', true)
  // Callers take turns: before the first write of another goes one of those.
  enter('of another', true, 'another')
  settle()
  assert.deepEqual(told(), ['no too late', 'of another'])
  await answer(2, 10)
  enter('in time', true)
  enter('one more', true)
  assert.deepEqual(told(), ['no one more'])
  // On PostgreSQL they take none: it would be told so only once it has waited.
  const other = await measured(101, false)
  other.enter('of another', true, 'another')
  assert.deepEqual(other.told(), ['no of another'])
})

test('refusing takes no heed of fewer writes than fill a commit, nor of a rate that was measured long ago', async () => {
  const { answer, pass, many, settle, told } = await measured(101)
  await answer(80, 10_000)
  many('few', 11, true)
  settle()
  assert.deepEqual(told().filter(isRefusal), [])
  many('one too many', 1, true)
  assert.deepEqual(told(), ['no one too many 1'])
  pass(60_001)
  many('later', 100, true)
  assert.deepEqual(told(), [])
})

test('the time in which no write had come counts for none: where many wait for something else, a few others are taken', async () => {
  const { enter, many, turn, answer, pass, settle, told } = queueWith({ areWritesHeld: true })
  many('stuck', 40, true)
  settle()
  told()
  for (let number = 1; number <= 100; number++) {
    pass(1000)
    enter(`quick ${number}`, true)
    turn()
    assert.deepEqual(told(), [`quick ${number}`])
    await answer(1, 5, true)
  }
})

test('a write that was not begun in time is refused', () => {
  const { enter, pass, settle, told } = queueWith({ writeWait: 1000 })
  enter('late', true)
  pass(1001)
  enter('new', true)
  settle()
  assert.deepEqual(told(), ['no late', 'new'])
})

test('while connections come the queue gives way for a turn each time, and for eight in a row at most [H17]', () => {
  const { many, turn, giveWay, told } = queueWith()
  many('read', 30)
  giveWay()
  turn()
  assert.deepEqual(told(), [])
  turn()
  assert.equal(told().length, 6)
  const turns = Array.from({ length: 10 }, () => {
    giveWay()
    turn()
    return told().length
  })
  assert.deepEqual(turns, [0, 0, 0, 0, 0, 0, 0, 0, 6, 0])
})

test('a stop of the whole process makes nobody wait in vain: what came before is run [H3]', () => {
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

/** A queue with many that waited for too long, and more that come in each turn than are run in it. */
const behind = (refusal: number) => {
  const queue = queueWith({ wait: 100, cost: 1, refusal })
  queue.many('late', 400)
  queue.pass(101)
  return {
    ...queue,
    turn: () => {
      queue.many('new', 7)
      queue.turn()
    },
  }
}

test('while requests wait to be run, an eighth of the time at most goes to refusals [H1]', () => {
  for (const [refusal, perTurn] of [
    [0.625, 1],
    [0.125, 5],
  ] as const) {
    const { turn, told } = behind(refusal)
    for (let number = 0; number < 8; number++) turn()
    const names = told()
    assert.equal(names.filter(name => !isRefusal(name)).length, 48)
    assert.equal(names.filter(isRefusal).length, 8 * perTurn)
  }
})

test('once nobody waits to be run, refusals have the time of all [H3]', () => {
  const { many, pass, turn, settle, told, size } = queueWith({ wait: 100, refusal: 1 })
  many('late', 400)
  pass(101)
  turn()
  assert.equal(told().filter(isRefusal).length, 5)
  settle()
  assert.equal(told().filter(isRefusal).length, 395)
  assert.equal(size(), 0)
})

test('what many requests leave behind is given back [H3]', () => {
  const { many, settle, told, size } = queueWith({ wait: 1_000_000, size: 100_000, cost: 0.1 })
  many('read', 5000)
  settle()
  assert.equal(size(), 0)
  assert.deepEqual(told().slice(-1), ['read 5000'])
})
