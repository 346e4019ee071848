/** What a row keeps of a file, as JSON in its column: bytes are found by the digest in it, and callers see the rest with an address. */

import type { Entity } from '#model/entity.ts'
import type { Field, FileRules } from '#model/field.ts'

/** A file of a row; the order of its members is that of the text, which begins with the digest. */
export type StoredFile = {
  /** The SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string
  readonly name: string
  readonly type: string
  readonly bytes: number
  /** The size of a picture in pixels; null for any other file. */
  readonly width: number | null
  readonly height: number | null
}

const pixels = { type: ['integer', 'null'], description: 'In pixels, of a picture.' } as const

/** What callers see of a file but for its address, with the schema of each. */
export const fileFacts = {
  name: { type: 'string' },
  type: { type: 'string' },
  bytes: { type: 'integer', format: 'int64' },
  width: pixels,
  height: pixels,
} as const

/** What callers see of a file, in this order. */
export const fileMembers: readonly string[] = [...Object.keys(fileFacts), 'url']

/** How a file is written in an answer: below which address, and which members of it under which keys; all unless it says. */
export type FileForm = {
  /** The address of the row up to its id, and what follows this. */
  readonly before: string
  readonly after: string
  readonly members?: readonly (readonly [key: string, member: string])[] | undefined
  /** Whether the address is to be signed, in place of a mark that no text has. */
  readonly isSigned?: boolean
}

const start = '{"digest":"'
const digestEnd = start.length + 64
const othersFrom = digestEnd + '",'.length

/** What ends an address that is to be signed: JSON escapes it wherever it is in a text. */
const toSign = '\0'
const unsigned = /"([^"\0]*)\?v=([\da-f]{64})\0"/g

/** JSON with the addresses of its files signed. */
export const withSigned = (json: string, sign: (path: string, digest: string) => string): string =>
  json.replaceAll(unsigned, (_, path: string, digest: string) => `"${sign(path, digest)}"`)

/** How much of the digest the address of a file has. */
const versionLength = 12

/** The text that a row keeps of a file. */
export const storedText = ({ digest, name, type, bytes, width, height }: StoredFile): string =>
  JSON.stringify({ digest, name, type, bytes, width, height })

/** Whether a value is the text of a stored file, and so no upload that is to become one. */
export const isStoredFile = (value: unknown): value is string =>
  typeof value === 'string' && value.startsWith(start)

/** Where the text has the part of the digest that the address has, as SQL counts. */
export const versionAt = { from: start.length + 1, length: versionLength } as const

/** Where the text has the digest, as SQL counts. */
export const digestAt = { from: start.length + 1, length: 64 } as const

/** The JSON of a file for callers, given the id of its row. */
export const fileJson = (stored: string, id: unknown, form: FileForm): string => {
  const version = form.isSigned
    ? `${stored.slice(start.length, digestEnd)}${toSign}`
    : stored.slice(start.length, start.length + versionLength)
  const url = `"${form.before}${id}${form.after}?v=${version}"`
  if (!form.members) return `{${stored.slice(othersFrom, -1)},"url":${url}}`
  const file = JSON.parse(stored)
  const members = form.members.map(([key, member]) => {
    const json = member === 'url' ? url : JSON.stringify(file[member] ?? null)
    return `${JSON.stringify(key)}:${member === '__typename' ? '"StoredFile"' : json}`
  })
  return `{${members.join()}}`
}

/** How a file of an entity's rows is written below a prefix of the REST API; undefined for any other field. */
export const fileFormOf = (
  entity: {
    readonly plural: string
    readonly fields: Readonly<Record<string, { readonly file: unknown }>>
  },
  key: string,
  prefix: string,
  isSigned = false,
): FileForm | undefined =>
  entity.fields[key]?.file
    ? { before: `${prefix}/${entity.plural}/`, after: `/${key}`, isSigned }
    : undefined

/** A field that is a file, with the names by which it is found. */
export type FileField = {
  readonly entityName: string
  readonly entity: Entity
  readonly key: string
  readonly field: Field
  readonly file: FileRules
}

/** The fields of a model that are files. */
export const fileFields = (entities: Readonly<Record<string, Entity>>): readonly FileField[] =>
  Object.entries(entities).flatMap(([entityName, entity]) =>
    Object.entries(entity.fields).flatMap(([key, field]) =>
      field.file ? [{ entityName, entity, key, field, file: field.file }] : [],
    ),
  )

/** The tables in which an earlier release kept files. */
export const formerTables = (entities: Readonly<Record<string, Entity>>): readonly string[] =>
  fileFields(entities).flatMap(({ file }) => (file.movedFrom ? [file.movedFrom.table] : []))
