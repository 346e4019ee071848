/** Everything the service knows about a user. */

import {
  anyone,
  choice,
  created,
  email,
  entity,
  file,
  fixed,
  flag,
  folded,
  id,
  int,
  internal,
  many,
  revision,
  self,
  signedIn,
  text,
  whileOpen,
} from 'duet/model'
import { errors } from '../errors.ts'
import { admin, roles } from '../roles.ts'
import { largestPicture, pictureTypes } from './avatar/picture.ts'
import { sendVerification } from './verify-email/message.ts'

const forAdmins = { settableBy: admin, readableBy: signedIn, graphql: 'hidden' } as const

export const user = entity({
  description: 'Somebody who writes posts and comments.',
  fields: {
    id: id(),
    name: text({ max: 200, trimmed: true, description: 'Name, 1 to 200 characters.' }),
    // Who signs up has no token, and gives it all the same.
    email: email({
      readableBy: signedIn,
      settableBy: anyone,
      description: 'Email address, unique without regard to case.',
    }),
    age: int({
      min: 0,
      max: 150,
      nullable: true,
      readableBy: signedIn,
      settableBy: anyone,
      description: 'Age in years.',
    }),
    role: choice(roles.names, { ...forAdmins, initial: { value: roles.default } }),
    status: choice(['active', 'suspended'], { ...forAdmins, initial: { value: 'active' } }),
    emailVerified: flag({
      ...fixed,
      initial: { value: 0 },
      resetBy: 'email',
      readableBy: signedIn,
      graphql: 'hidden',
      description: 'Whether the address was proved to be theirs; a new address is not.',
    }),
    createdAt: created({ readableBy: signedIn, graphql: 'hidden' }),
    emailKey: folded('email', { unique: errors.EMAIL_TAKEN }),
    avatar: file({
      ...internal,
      accept: pictureTypes,
      max: largestPicture,
      exif: 'kept',
      nullable: true,
      movedFrom: { table: 'avatars', row: 'user_id', bytes: 'bytes', type: 'type' },
    }),
    revision: revision(),
  },
  relations: { posts: many('post', 'authorId', { description: 'Their posts, newest first.' }) },
  policy: {
    read: anyone,
    enter: signedIn,
    create: whileOpen('signup'),
    update: self('id'),
    delete: self('id'),
  },
  links: {
    self: '/users/{id}',
    posts: '/users/{id}/posts',
    avatar: '/users/{id}/avatar',
    update: { href: '/users/{id}', method: 'PATCH' },
    delete: { href: '/users/{id}', method: 'DELETE' },
  },
  rest: {
    list: true,
    one: true,
    selectable: true,
    writes: ['create', 'replace', 'update', 'delete'],
    listing: {
      paging: 'page',
      limit: 10,
      sort: {
        style: 'field and order',
        fields: ['id', 'name', 'email', 'age', 'role', 'status', 'createdAt'],
      },
      filters: {
        role: { kind: 'equals', field: 'role' },
        status: { kind: 'equals', field: 'status' },
      },
    },
  },
  graphql: { paged: true, mutations: ['create', 'update', 'delete'] },
  counted: ['role', 'status'],
  after: {
    create: {
      fields: ['name', 'email', 'emailVerified'],
      // Who signed up by a code has proved the address.
      run: async ({ id, name, email, emailVerified }, services, signal) => {
        if (!emailVerified)
          await sendVerification(
            { id: Number(id), name: String(name), email: String(email) },
            services,
            signal,
          )
      },
    },
  },
})
