/** The mutations of GraphQL, on every content: who may and who may not, and what is kept. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bodyFor, bodyIfAny } from '#check/bodies.ts'
import { type ReferenceRow, type RowsReference, verdict } from '#check/reference.ts'
import { taken } from '#check/values.ts'
import { entityOf, typeName } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import type { Answered } from '../world.ts'
import { subjects } from './contents.ts'
import { asOf, callersOf, type Filled, filled, isHeld, named, targetFor } from './subject.ts'

type Kind = 'create' | 'update' | 'delete'
type Input = Readonly<Record<string, unknown>>

const code = ({ json }: Answered): string | undefined => json.errors?.[0]?.extensions?.code

/** The operation that does it; what it wrote is `it`. */
const operationFor = (kind: Kind, entity: string): string => {
  const type = typeName(entity)
  const input = `$input: ${typeName(kind)}${type}Input!`
  const id = '$id: ID!'
  if (kind === 'create') return `mutation (${input}) { it: create${type}(input: $input) { id } }`
  if (kind === 'delete') return `mutation (${id}) { it: delete${type}(id: $id) }`
  return `mutation (${id}, ${input}) { it: update${type}(id: $id, input: $input) { id } }`
}

for (const subject of subjects)
  describe(`the mutations of ${subject.name}`, () => {
    const { admin, barred, callers } = callersOf(subject)
    let it: Filled
    let n = 0
    before(async () => {
      it = await filled(subject)
    })
    after(() => it.world.close())

    const inputFor = (
      kind: Kind,
      entity: string,
      viewer: Viewer,
      reference: RowsReference,
    ): Input | undefined =>
      kind === 'delete'
        ? undefined
        : bodyFor({ ...it, reference, entity, version: undefined, mode: kind, viewer, n: n++ })

    /** An input for a create that the rule lets through, or that it does not, as far as there are some. */
    const newFor = (entity: string, viewer: Viewer, reference: RowsReference, isRight: boolean) => {
      const use = { ...it, reference, entity, version: undefined, mode: 'create', viewer } as const
      for (const wanted of isRight ? (['made'] as const) : (['refused', 'absent'] as const)) {
        const input = bodyIfAny({ ...use, wanted, n: n++ })
        if (input) return { input, wanted }
      }
      return { input: bodyFor({ ...use, n: n++ }), wanted: 'made' as const }
    }

    const send = (kind: Kind, entity: string, viewer: Viewer, variables: object) =>
      it.world.gql(operationFor(kind, entity), { ...asOf(viewer), variables })

    /** Those who have the mutation; tokens speak for viewers, so they go last. */
    const having = (kind: Kind): readonly string[] =>
      Object.keys(it.model.entities)
        .filter(name => entityOf(it.model, name).graphql.mutations.includes(kind))
        .toSorted(
          (a, b) => Number(a === it.model.viewers.entity) - Number(b === it.model.viewers.entity),
        )

    const kept = async (entity: string, answer: Answered, input: Input): Promise<void> => {
      const row = (await it.reference()).byId(entity, Number(answer.json.data.it.id))
      for (const [key, value] of Object.entries(input)) {
        const field = entityOf(it.model, entity).fields[key]
        const isPlain = field?.scalar === 'text' || field?.scalar === 'int'
        if (field?.references) assert.equal(row?.[key], value)
        else if (isPlain) assert.equal(row?.[key], taken(field.rule, value))
      }
    }

    const attempt = async (kind: Kind, entity: string, viewer: Viewer, mine: boolean) => {
      const { model } = it
      const rule = entityOf(model, entity).policy[kind]
      const reference = await it.reference()
      const row = targetFor({ model, reference, entity, rule, viewer, mine })
      if (kind !== 'create' && !row) return
      const isMaking = kind === 'create' && verdict(rule, viewer, model) !== 'no'
      const { input, wanted } = isMaking
        ? newFor(entity, viewer, reference, mine)
        : { input: inputFor(kind, entity, viewer, reference), wanted: 'made' }
      const answer = await send(kind, entity, viewer, { id: row?.id, input })
      const isOpen =
        kind === 'create'
          ? verdict(rule, viewer, model) !== 'no'
          : reference.may(entity, row as ReferenceRow, rule, viewer)
      const about = `${kind} ${entity} ${row?.id} by ${named(viewer)}: ${answer.text}`
      const isHidden = viewer.id !== null && row && reference.isHidden(entity, row, viewer)
      if (kind !== 'create' && isHidden && viewer !== barred) {
        // A hidden row does not exist: to delete one says false.
        const found = kind === 'delete' ? answer.json.data?.it : code(answer)
        assert.equal(found, kind === 'delete' ? false : 'NOT_FOUND', about)
      } else if (!isOpen || viewer === barred)
        assert.equal(code(answer), viewer.id === null ? 'UNAUTHENTICATED' : 'FORBIDDEN', about)
      else if (wanted !== 'made')
        assert.equal(code(answer), wanted === 'absent' ? 'NOT_FOUND' : 'FORBIDDEN', about)
      else if (input) {
        assert.equal(answer.json.errors, undefined, about)
        await kept(entity, answer, input)
      } else if (code(answer) === 'CONFLICT') assert.ok(isHeld(model, entity), about)
      else {
        assert.equal(answer.json.data?.it, true, about)
        assert.equal((await it.reference()).byId(entity, row?.id), undefined, about)
      }
    }

    for (const kind of ['create', 'update', 'delete'] as const)
      test(`to ${kind} is for those who may, and for no others`, async () => {
        for (const entity of having(kind))
          for (const viewer of [...callers, ...(barred ? [barred] : [])])
            for (const mine of [true, false]) await attempt(kind, entity, viewer, mine)
      })

    test('what is not there cannot be changed, and deleting it says false', async () => {
      for (const entity of having('update')) {
        const answer = await send('update', entity, admin, { id: 999, input: {} })
        assert.equal(code(answer), 'NOT_FOUND', answer.text)
      }
      for (const entity of having('delete')) {
        const answer = await send('delete', entity, admin, { id: 999 })
        assert.deepEqual(answer.json, { data: { it: false } })
      }
    })

    test('no operation of all these was a bug', () => {
      const bugs = it.world.events.filter(event => event.kind === 'bug')
      assert.deepEqual(
        bugs.map(({ error }) => (error as Error).stack),
        [],
      )
    })
  })
