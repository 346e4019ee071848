/** What becomes of rows when one that they refer to is deleted, where no declaration says it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entity, many } from '#model/entity.ts'
import { id, reference, text } from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { anyone, signedIn } from '#model/policy.ts'

const policy = { read: anyone, create: signedIn, delete: signedIn } as const
const name = { name: text({ max: 9 }) }

/** What each reference of a model does. */
const deletions = (entities: ReturnType<typeof defineModel>) =>
  Object.fromEntries(
    Object.entries(entities).flatMap(([of, { fields }]) =>
      Object.entries(fields).flatMap(([key, { references }]) =>
        references ? [[`${of}.${key}`, references.onDelete]] : [],
      ),
    ),
  )

test('a row goes with the one it names only if it is a part of it, below it, or links it', () => {
  const entities = defineModel({
    company: entity({
      fields: name,
      relations: {
        jobs: many('job', 'companyId'),
        seats: many('seat', 'companyId', { nestedWrites: true }),
        notes: many('note', 'companyId'),
      },
      policy,
    }),
    tag: entity({ fields: name, policy }),
    job: entity({
      fields: { companyId: reference('company'), firstId: reference('job', { nullable: true }) },
      relations: { tags: many('tag', { through: 'jobTag' }) },
      policy,
    }),
    jobTag: entity({
      fields: { jobId: reference('job'), tagId: reference('tag'), byId: reference('company') },
      relations: {},
      policy,
    }),
    seat: entity({
      fields: { companyId: reference('company'), jobId: reference('job'), ...name },
      policy,
    }),
    note: entity({
      fields: {
        id: id(),
        companyId: reference('company'),
        keptId: reference('job', { onDelete: 'cascade' }),
      },
      policy,
      rest: { list: true, one: true, writes: [], nested: ['create'] },
    }),
    mark: entity({
      fields: { jobId: reference('job', { nullable: true, onDelete: 'set null' }) },
      policy,
    }),
  } as never)
  assert.deepEqual(deletions(entities), {
    'job.companyId': 'restrict',
    'job.firstId': 'restrict',
    'jobTag.jobId': 'cascade',
    'jobTag.tagId': 'cascade',
    'jobTag.byId': 'restrict',
    'seat.companyId': 'cascade',
    'seat.jobId': 'restrict',
    'note.companyId': 'cascade',
    'note.keptId': 'cascade',
    'mark.jobId': 'set null',
  })
})
