/** All entities together, checked: relation names and keys by the compiler, and again at boot in one sentence. */
import { isObject } from '#base/object.ts'
import { clipped } from '#base/text.ts'
import { ApiError } from '#errors.ts'
import { withKept } from '#model/computed.ts'
import { withDerived } from '#model/derived.ts'
import type { Entity } from '#model/entity.ts'
import { adminFaults } from '#model/faults/admin.ts'
import { fieldFaults } from '#model/faults/fields.ts'
import { listFaults } from '#model/faults/lists.ts'
import { cycleFaults, nameFaults } from '#model/faults/names.ts'
import {
  type CheckedEntity,
  type Faults,
  policyFaults,
  relationFaults,
} from '#model/faults/relations.ts'
import { type PlacedRule, routeFaults, rulesOf, switchFaults } from '#model/faults/routes.ts'
import { versionFaults } from '#model/faults/versions.ts'
import type { Currency } from '#model/money.ts'
import { columnName, entityOf, fieldOf, typeName, valuesName, wrong } from '#model/names.ts'
import { partFaults } from '#model/parts.ts'
import type { People } from '#model/people.ts'
import { isByRow, type Switches } from '#model/policy.ts'
import type { Versions } from '#model/version.ts'
import type { Viewers } from '#model/viewers.ts'

export { columnName, entityOf, fieldOf, typeName, valuesName }

/** The settings of the model, from an operator's configuration. */
export type Settings = {
  readonly switches: Switches
  readonly currency: Currency
  /** The values of the content's own settings, by their names, for its actions; absent if a test gives none. */
  readonly values?: Readonly<Record<string, unknown>>
}

/** Entities by their names. */
export type Entities = Readonly<Record<string, Entity>>

/** What a service is about, checked: every room works on this. */
export type Model = {
  /** Whether choices, days and times are Strings in the GraphQL API, no types of their own. */
  readonly graphqlStrings?: boolean
  /** What the content says of itself, for the schema of GraphQL. */
  readonly about?: string | undefined
  readonly entities: Entities
  readonly viewers: Viewers
  /** Who signs in here; undefined if nobody does. */
  readonly people?: People | undefined
  readonly versions: Versions
  readonly settings: Settings
}

const checksOfOne: readonly ((checked: CheckedEntity) => Faults)[] = [
  fieldFaults,
  relationFaults,
  policyFaults,
  listFaults,
  routeFaults,
  partFaults,
  adminFaults,
]

/** The faults of all entities in all versions: first those of each by itself, then those between them. */
export const modelFaults = function* (entities: Entities, versions?: Versions): Generator<string> {
  for (const [name, self] of Object.entries(entities)) {
    for (const faultsOf of checksOfOne) yield* faultsOf({ entities, name, self })
    if (versions) yield* versionFaults({ entities, name, self }, versions)
  }
  yield* nameFaults(entities)
  yield* cycleFaults(entities)
}

/** The names that may be the key of a relation: this entity's fields for `one`, the target's for `many`. */
type KeyOf<M extends Entities, Self extends Entity, R> = R extends { through: string }
  ? string
  : R extends { kind: 'one' }
    ? keyof Self['fields']
    : R extends { kind: 'many'; to: infer To extends keyof M }
      ? keyof M[To]['fields']
      : never

/** Relations name their target, so no resource imports another; here the names are checked. Without relations, an entity written in place has the index signature for them, which names none. */
type WithKnownNames<M extends Entities> = {
  [E in keyof M]: {
    relations: {
      [R in keyof M[E]['relations'] as string extends R ? never : R]: {
        to: keyof M
        by: KeyOf<M, M[E], M[E]['relations'][R]>
      }
    }
  }
}

/** The entities with what they leave out, checked against each other; a plain Error with one sentence says what is wrong. */
export const defineModel = <const M extends Entities>(declared: M & WithKnownNames<M>): M => {
  if (typeof declared !== 'object' || declared === null)
    throw new Error('defineModel() takes entities by their names, such as defineModel({ post })')
  for (const [name, one] of Object.entries(declared as Readonly<Record<string, unknown>>))
    if (!isObject((one as Entity | null)?.fields) || !isObject((one as Entity).relations))
      wrong(`${name} is no entity: make it by entity({ fields: { … } })`)
  const entities: M = withKept(withDerived<M>(declared))
  for (const fault of modelFaults(entities)) wrong(fault)
  return entities
}

/** Checks what differs between versions; throws a plain Error of one sentence that names a part that no version can have. */
export const checkVersions = (entities: Entities, versions: Versions): void => {
  for (const [name, self] of Object.entries(entities))
    for (const fault of versionFaults({ entities, name, self }, versions)) wrong(fault)
}

/** Checks that all switches that rules name exist; throws a plain Error of one sentence that names a missing one. */
export const checkSwitches = (
  entities: Entities,
  switches: Switches,
  actions: readonly PlacedRule[] = [],
): void => {
  for (const fault of switchFaults([...rulesOf(entities), ...actions], switches)) wrong(fault)
}

/** The unique field or set whose columns, joined by `_`, a store names, with its error; no fields for other columns. */
export const uniqueOf = (entity: Entity, columns: string): Entity['sets'][number] => {
  const single = Object.entries(entity.fields).flatMap(([key, { unique }]) => {
    const error = key === 'id' ? 'CONFLICT' : unique
    return error === undefined ? [] : [{ fields: [key], error }]
  })
  const found = [...single, ...entity.sets].find(
    ({ fields }) => fields.map(columnName).join('_') === columns,
  )
  return found ?? { fields: [], error: 'CONFLICT' }
}

/** The choice of an entity whose constraint has that name; undefined if none has. */
export const choiceOf = ({ fields }: Entity, constraint: string): string | undefined =>
  Object.keys(fields).find(key => fields[key]?.values && valuesName(columnName(key)) === constraint)

/** Whether a reference of a row that a caller sees may lead to one that it does not. */
export const mayLeadToHidden = (
  { entities }: Pick<Model, 'entities'>,
  { fields, relations, policy }: Entity,
  key: string,
): boolean => {
  const to = entities[fields[key]?.references?.entity ?? '']?.policy.read
  if (!isByRow(to)) return false
  const own = policy.read
  const [relation] =
    Object.entries(relations).find(([, { kind, by }]) => kind === 'one' && by === key) ?? []
  // A row that is seen by the owner of the other one.
  const isSame =
    own?.kind === 'self' &&
    to?.kind === 'self' &&
    own.fields.every(path => to.fields.some(end => path === `${relation}.${end}`))
  return !isSame
}

/** The error for a thing that does not exist; its message contains "not found". */
export const notFound = (entity: string, id: unknown, location?: ApiError['location']): ApiError =>
  new ApiError(
    'NOT_FOUND',
    `${typeName(entity)} ${clipped(String(id), 100)} not found`,
    location && { location },
  )
