/** A content with files: pictures that everybody sees, and applications whose papers are for two. Its migrations are drafted anew each time. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { crc32, deflateSync } from 'node:zlib'
import { defineContent } from '#content.ts'
import { giveFile } from '#files/by-hand.ts'
import { viewer } from '#model/condition.ts'
import { entity, many, one } from '#model/entity.ts'
import { created, file, id, reference, revision, text } from '#model/field.ts'
import { defineModel } from '#model/model.ts'
import { anyone, defineRoles, self, signedIn, withRole } from '#model/policy.ts'
import { commandOf } from '#write/command.ts'
import type { Action } from '#write/steps/action.ts'
import { change, insert } from '#write/steps/steps.ts'
import { historyFor } from '../generated/serve.ts'
import { ownFolder } from './folders.ts'

const roles = defineRoles({
  names: ['member', 'recruiter', 'admin'],
  default: 'member',
  superuser: 'admin',
})

const rest = {
  list: true,
  one: true,
  writes: ['create', 'update', 'replace', 'delete'],
  listing: { paging: 'page', limit: 20 },
} as const
const graphql = { mutations: ['create', 'update', 'delete'] } as const

const member = entity({
  description: 'Somebody who shows pictures.',
  fields: { id: id(), name: text({ max: 40 }), revision: revision() },
  policy: { read: anyone, create: signedIn, update: self('id') },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 20 } },
})

const picture = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

const album = entity({
  description: 'Pictures of one subject.',
  fields: {
    id: id(),
    title: text({ max: 80 }),
    banner: file({
      ...{ accept: picture, max: '100 kB', sizes: [16, 32], nullable: true },
      settableBy: withRole(roles, 'member'),
    }),
    cover: file({ accept: picture, max: '1 kB', nullable: true, exif: 'kept' }),
    memberId: reference('member', { initial: 'viewer', settableBy: withRole(roles, 'admin') }),
    revision: revision(),
  },
  relations: {
    photos: many('photo', 'albumId', { nestedWrites: true }),
    member: one('member', 'memberId'),
  },
  policy: { read: anyone, create: signedIn, update: self('memberId'), delete: self('memberId') },
  rest,
  graphql,
  bulk: true,
  search: ['title'],
})

const photo = entity({
  description: 'A picture of an album.',
  fields: {
    id: id(),
    image: file({ accept: ['image/*'], max: '1 kB', exif: 'kept' }),
    albumId: reference('album', { onDelete: 'cascade' }),
    revision: revision(),
  },
  relations: { album: one('album', 'albumId') },
  policy: {
    read: anyone,
    create: signedIn,
    update: self('album.memberId'),
    delete: self('album.memberId'),
  },
  rest,
  graphql,
})

const application = entity({
  description: 'An application for a position.',
  fields: {
    id: id(),
    letter: text({ max: 1000 }),
    cv: file({
      accept: ['application/pdf'],
      max: '200 kB',
      nullable: true,
      readableBy: [signedIn.where({ memberId: viewer }), withRole(roles, 'recruiter')],
      settableBy: [signedIn.where({ memberId: viewer })],
    }),
    // Of somebody who gives it and may not read it afterwards.
    testimonial: file({
      accept: ['application/pdf'],
      max: '1 kB',
      nullable: true,
      readableBy: [signedIn.where({ memberId: viewer }), withRole(roles, 'recruiter')],
      settableBy: signedIn,
    }),
    memberId: reference('member', { initial: 'viewer', settableBy: withRole(roles, 'admin') }),
    createdAt: created(),
    revision: revision(),
  },
  policy: { read: signedIn, create: signedIn, update: signedIn, delete: self('memberId') },
  rest,
  graphql,
})

const entities = defineModel({ member, album, photo, application })

/** An album gets a cover and its first photo by one write. */
const illustrate: Action = {
  method: 'POST',
  name: 'illustrate albums',
  path: '/albums/:id/illustrate',
  about: 'album',
  answers: 'album',
  rule: self('memberId'),
  input: {
    cover: file({ accept: ['image/*'], max: '1 MB', exif: 'kept', nullable: true }),
    image: file({ accept: ['image/*'], max: '1 MB', exif: 'kept' }),
  },
  graphql: true,
  described: { operationId: 'illustrateAlbum', summary: 'Illustrate an album' },
  steps: ({ id: albumId, input }) => [
    insert('photo', { albumId, image: input.image }),
    change('album', albumId, { cover: input.cover }),
  ],
}

/** The body of an action by hand becomes the cover of an album. */
const scan: Action = {
  method: 'POST',
  name: 'scan albums',
  path: '/albums/:id/scan',
  about: 'album',
  answers: null,
  rule: self('memberId'),
  bytes: 1000,
  described: { operationId: 'scanAlbum', summary: 'Scan an album' },
  command: async (writing, given) => {
    const file = await given.services.keepFile({
      ...{ bytes: given.bytes, name: 'scan.png' },
      type: 'image/png',
    })
    const steps = [giveFile(writing, given, { entity: 'album', field: 'cover', file })]
    return commandOf(writing, { name: 'scan', steps, status: 204 })
  },
}

const folder = ownFolder('gallery')
for (const engine of ['sqlite', 'postgres'] as const) {
  mkdirSync(join(folder, engine))
  const text = historyFor(engine, entities).at(-1)?.text ?? ''
  writeFileSync(join(folder, engine, '0001-first.sql'), text)
}

export const gallery = defineContent({
  entities,
  actions: [illustrate, scan],
  viewers: { entity: 'member', roles },
  migrations: pathToFileURL(`${folder}/`),
})

/** Rows of three members, of whom the first may do everything, with an album of the second. */
export const galleryRows = {
  member: [{ name: 'Ada' }, { name: 'Ben' }, { name: 'Cyd' }],
  album: [{ title: 'Tables', memberId: 2 }],
  application: [{ letter: 'Dear', memberId: 2 }],
}

const number = (value: number) => Buffer.from(value.toString(16).padStart(8, '0'), 'hex')
const chunk = (type: string, ...data: readonly Uint8Array[]) => {
  const body = Buffer.concat([Buffer.from(type), ...data])
  return [number(body.length - 4), body, number(crc32(body))]
}

/** A picture of that size in pixels: a black PNG, and so many bytes that mean nothing. */
export const png = (width: number, height: number, more = 0): Uint8Array<ArrayBuffer> => {
  const form = Buffer.from('0802000000', 'hex')
  const parts = [
    Buffer.from('89504e470d0a1a0a', 'hex'),
    ...chunk('IHDR', number(width), number(height), form),
    ...chunk('IDAT', deflateSync(Buffer.alloc((width * 3 + 1) * height))),
    ...chunk('IEND'),
    Buffer.alloc(more),
  ]
  return new Uint8Array(Buffer.concat(parts))
}

export const pdf = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(`%PDF-1.7\n${text}\n%%EOF\n`))
