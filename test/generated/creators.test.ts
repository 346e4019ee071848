/** What somebody without a token sees of a row that they create: its own fields, and nothing of others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Entity, entity, many, one } from '#model/entity.ts'
import { email, id, reference, text } from '#model/field.ts'
import { anyone, signedIn } from '#model/policy.ts'
import { forAllTests } from '../support/fixture.ts'
import { member } from './models.ts'
import { serveModel, type Viewer } from './serve.ts'

const assignee: Entity = {
  ...member,
  fields: { ...member.fields, address: email({ readableBy: signedIn }) },
  policy: { ...member.policy, enter: signedIn },
}

const ticket: Entity = entity({
  fields: {
    id: id(),
    sender: email({ readableBy: signedIn, settableBy: anyone }),
    assigneeId: reference('member', { onDelete: 'cascade' }),
    followsId: reference('ticket', { onDelete: 'cascade', nullable: true }),
  },
  relations: {
    assignee: one('member', 'assigneeId'),
    follows: one('ticket', 'followsId'),
    remarks: many('remark', 'ticketId'),
  },
  policy: { read: signedIn, create: anyone },
  rest: {
    list: true,
    one: true,
    writes: ['create'],
    embedded: { remarks: { after: 'sender' } },
    listing: { paging: 'page', limit: 10 },
  },
  graphql: { mutations: ['create'] },
})

const remark: Entity = entity({
  fields: {
    id: id(),
    ticketId: reference('ticket', { onDelete: 'cascade' }),
    text: text({ max: 9 }),
  },
  relations: { ticket: one('ticket', 'ticketId') },
  policy: { read: signedIn, create: signedIn },
  rest: { list: true, one: true, writes: ['create'], listing: { paging: 'page', limit: 10 } },
})

const service = forAllTests(async () => {
  const made = await serveModel({ member: assignee, ticket, remark }, 'sqlite')
  for (const address of ['ada@example.org', 'ben@example.org'])
    await made.ask({ line: 'POST /api/members', as: 'admin', body: { name: 'A', address } })
  return made
})

const input = 'input: { sender: "me@example.org", assigneeId: 1, followsId: 1 }'

const ask = async (as: Viewer, members: string) => {
  const query = `mutation { createTicket(${input}) { ${members} } }`
  const { text } = await service.ask({ line: 'POST /graphql', as, body: { query } })
  return JSON.parse(text)
}

const tickets = async (): Promise<number> => {
  const { text } = await service.ask({ line: 'GET /api/tickets', as: 'user' })
  return JSON.parse(text).pagination.total
}

test('who creates a row without a token sees it whole in both APIs, with what belongs to it', async () => {
  const body = { sender: 'me@example.org', assigneeId: 1 }
  const { status, text } = await service.ask({ line: 'POST /api/tickets', as: 'anonymous', body })
  assert.equal(status, 201, text)
  assert.deepEqual(JSON.parse(text), { id: 1, followsId: null, remarks: [], ...body })
  const members = 'sender remarks { text ticket { sender } } assignee { name }'
  const { data, errors } = await ask('anonymous', members)
  assert.equal(errors, undefined)
  const createTicket = { sender: 'me@example.org', remarks: [], assignee: { name: 'A' } }
  assert.deepEqual(data, { createTicket })
})

test('who creates a row without a token is refused what that refers to and others read with a token only, and creates nothing', async () => {
  const before = await tickets()
  for (const [members, what] of [
    ['assignee { address }', 'read the address of a member'],
    ['follows { id }', 'read tickets'],
    ['remarks { ticket { follows { sender } } }', 'read tickets'],
  ] as const) {
    const { errors } = await ask('anonymous', members)
    assert.equal(errors?.[0].message, `A token is needed to ${what}`)
    assert.equal(errors[0].extensions.code, 'UNAUTHENTICATED')
  }
  assert.equal(await tickets(), before)
  const { data } = await ask('user', 'assignee { address } follows { sender }')
  assert.deepEqual(data.createTicket, {
    assignee: { address: 'ada@example.org' },
    follows: { sender: 'me@example.org' },
  })
})
