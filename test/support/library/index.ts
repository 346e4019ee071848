/** A second content, for tests: a library. Nothing in it is called as in content/, so what leaked from there shows. */
import { defineContent, defineModel } from 'duet'
import { actions } from './actions.ts'
import { author } from './author.ts'
import { book } from './book.ts'
import { demo } from './demo.ts'
import { errors } from './errors.ts'
import { loan, stamp } from './loan.ts'
import { member } from './member.ts'
import { roles } from './roles.ts'
import { seed } from './seed.ts'
import { settings } from './settings.ts'
import { spine } from './spine.ts'
import { bookSubject, subject } from './subject.ts'
import { loanKind } from './transfer.ts'
import { versions } from './versions.ts'

export const library = defineContent({
  // Not in the order of their references: any order is right.
  entities: defineModel({ loan, stamp, member, book, bookSubject, subject, author }),
  viewers: { entity: 'member', blocked: { field: 'standing', value: 'banned' }, roles },
  versions,
  actions,
  served: async () => ({ routes: [spine], pages: [] }),
  errors,
  settings,
  switches: ({ DUET_JOINING }) => ({ joining: DUET_JOINING === 'open' }),
  migrations: new URL('./migrations/', import.meta.url),
  demo: async () => demo,
  seed: async () => seed,
  transfer: { loan: loanKind },
  examples: {
    graphql: '{ books(limit: 3) { title author { name } } }',
    rest: '/books?sort=-pages',
    withToken: { graphql: '{ loans { book { title } } }', rest: '/loans' },
  },
})
