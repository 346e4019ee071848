/** Who may borrow books; tokens speak for members. */

import type { Services } from 'duet/actions'
import {
  anyone,
  choice,
  created,
  email,
  entity,
  fixed,
  flag,
  id,
  many,
  revision,
  self,
  signedIn,
  text,
  whileOpen,
} from 'duet/model'
import { librarian } from './roles.ts'

type Row = Readonly<Record<string, unknown>>

const welcome = (
  { id, name, address }: Row,
  { mail, publicUrl }: Services,
  signal: AbortSignal,
): Promise<void> =>
  mail.send(
    {
      recipient: Number(id),
      address: String(address),
      compose: () => ({
        to: { name: String(name), address: String(address) },
        subject: 'Welcome to the library',
        text: `Your books: ${publicUrl()}/api/members/${id}/loans\n`,
        html: '<p>Welcome to the library</p>',
      }),
    },
    signal,
  )

export const member = entity({
  description: 'Somebody who may borrow books.',
  fields: {
    id: id(),
    name: text({ max: 120, trimmed: true, description: 'Name.' }),
    address: email({
      readableBy: signedIn,
      settableBy: anyone,
      graphql: 'input',
      description: 'Email address.',
    }),
    isWelcome: flag({ ...fixed, initial: { value: 0 }, resetBy: 'address', graphql: 'hidden' }),
    standing: choice(['good', 'banned'], {
      settableBy: librarian,
      initial: { value: 'good' },
      graphql: 'hidden',
    }),
    joinedAt: created(),
    revision: revision(),
  },
  relations: { loans: many('loan', 'memberId', { description: 'What they borrowed.' }) },
  policy: {
    read: signedIn,
    enter: self('id'),
    create: whileOpen('joining'),
    update: self('id'),
    delete: librarian,
  },
  rest: {
    list: true,
    one: true,
    selectable: true,
    writes: ['create', 'update', 'delete'],
    listing: {
      paging: 'page',
      limit: 2,
      filters: { standing: { kind: 'equals', field: 'standing' } },
    },
  },
  graphql: { mutations: ['create'] },
  counted: ['standing'],
  after: { create: { fields: ['name', 'address'], run: welcome } },
})
