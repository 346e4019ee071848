/** The faults of a model, each one sentence that names the entity, the field and the remedy. */
import type { Checked, Faults } from '#model/check/checked.ts'
import { fieldFaults } from '#model/check/fields.ts'
import { listFaults } from '#model/check/lists.ts'
import { cycleFaults, nameFaults } from '#model/check/names.ts'
import { policyFaults, relationFaults } from '#model/check/relations.ts'
import { routeFaults } from '#model/check/routes.ts'
import { versionFaults } from '#model/check/versions.ts'

const perEntity: readonly ((checked: Checked) => Faults)[] = [
  fieldFaults,
  relationFaults,
  policyFaults,
  listFaults,
  routeFaults,
  versionFaults,
]

/** The faults of all entities: first those of each by itself, then those between them. */
export const modelFaults = function* (entities: Checked['entities']): Generator<string> {
  for (const [name, self] of Object.entries(entities))
    for (const faultsOf of perEntity) yield* faultsOf({ entities, name, self })
  yield* nameFaults(entities)
  yield* cycleFaults(entities)
}
