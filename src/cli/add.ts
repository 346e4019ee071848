/** Adds one row from the command line, by the rules that the APIs have for a superuser. */

import { UsageError } from '#cli/arguments.ts'
import { inserter } from '#cli/fill.ts'
import type { InputRow } from '#cli/row-sources.ts'
import { withStore } from '#cli/store.ts'
import { orTaken } from '#cli/transfer/rows.ts'
import type { Content } from '#content.ts'
import type { FieldFault } from '#errors.ts'
import { entityOf } from '#model/model.ts'
import { checkInput } from '#write/input.ts'

const sentence = (faults: readonly FieldFault[]): string =>
  faults.map(({ field, message }) => `--${field} ${message}`).join('; ')

/**
 * The id of the new row of an entity, whose fields are given as options. Throws UsageError for values that the model
 * refuses, and a plain error for one that another row has.
 */
export const addRow = (content: Content, name: string, row: InputRow): Promise<number> =>
  withStore(content, 'filling', async store => {
    const { model, session } = store
    const entity = entityOf(model, name)
    const { values, faults } = checkInput(entity, row, {
      mode: 'create',
      viewer: { id: 0, role: model.viewers.roles.superuser },
      model,
      now: Date.now(),
      what: name,
    })
    if (faults.length > 0) throw new UsageError(sentence(faults))
    return session.transaction(async () => {
      let id = 0
      const taken = await orTaken(store, entity, async () => {
        id = await inserter(store, entity)(values)
      })
      if (taken.length > 0) throw new Error(sentence(taken))
      return id
    })
  })
