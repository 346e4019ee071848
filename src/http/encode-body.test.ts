import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyTag } from './conditional.ts'
import { encodeBody } from './encode-body.ts'
import { createMemory } from './memory.ts'

test('a text is whole at once, and a long one later, with the same bytes and the same tag', async () => {
  const short = ['{"a":', '"é😀"', '}']
  // Of its surrogate pairs one is at the end of a part.
  const long = ['{', `"${'😀'.repeat(1_500_000)}`, `${'ẞ'.repeat(1000)}"}`]
  for (const [texts, isLater] of [
    [short, false],
    [long, true],
  ] as const) {
    const made = encodeBody(texts, true)
    assert.equal(made instanceof Promise, isLater)
    const { body, tag } = await made
    const text = texts.join('')
    assert.ok(Buffer.from(body).equals(Buffer.from(text)))
    assert.equal(tag, bodyTag(text))
    assert.equal((await encodeBody(texts, false)).tag, undefined)
  }
})

test('others have their turns while a long text is made [H12]', async () => {
  let turns = 0
  const count = () => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await encodeBody(['x'.repeat(10_485_760)], true)
  clearImmediate(timer)
  assert.ok(turns >= 10)
})

test('a long body that does not fit beside the answers that are not read is not made', async () => {
  const { answers } = createMemory({ answers: 5_000_000 })
  const long = ['x'.repeat(4_000_000)]
  assert.equal((await encodeBody(long, false, answers)).body.length, 4_000_000)
  answers.force(1_000_001)
  await assert.rejects(async () => encodeBody(long, false, answers), { code: 'OVERLOADED' })
})
