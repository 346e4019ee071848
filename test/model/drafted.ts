/** What a draft would write for a model. */

import type { Migration } from '#engines/shared/migrations.ts'
import { lackOf, migrationsFor } from '#kit/draft/draft.ts'
import { sqliteDrafting } from '#kit/draft/sqlite.ts'
import { text } from '#model/field.ts'
import { defineModel, type Entities } from '#model/model.ts'
import { historyFor } from '#test/market.ts'
import { entities } from '#test/support/market/duet.config.ts'

/** Posts as they are. */
export const { post } = entities

/** The model with a field more. */
export const longer = defineModel({
  ...entities,
  post: {
    ...post,
    fields: { ...post.fields, probe: text({ max: 200, nullable: true }) },
  },
})

/** The migrations that there are. */
export const known = historyFor('sqlite')

/** What the migrations lack of a model. */
export const lack = (added: Entities, migrations: readonly Migration[]) =>
  lackOf(sqliteDrafting, added, migrations)

/** The migrations with the one that a draft would write for these entities. */
export const withDraft = (added: Entities): readonly Migration[] => [
  ...known,
  ...migrationsFor(lack(added, known), 9999, 'draft'),
]
