/** Compares two files of a contract, OpenAPI in JSON or a GraphQL schema. */
import { isObject, type JsonObject } from '#base/object.ts'
import { type At, type Difference, found } from '#contract/difference.ts'
import { diffGraphql } from '#contract/graphql.ts'
import { noticeOf, removal } from '#contract/notice.ts'
import { diffOpenApi } from '#contract/openapi.ts'

/** A file of a contract. */
export type ContractFile = { readonly name: string; readonly text: string }

const kinds = ['json', 'graphql'] as const

type Kind = (typeof kinds)[number]

/** The kind of contract that a file name's end says; undefined for another. */
export const kindOf = (name: string): Kind | undefined =>
  kinds.find(kind => name.endsWith(`.${kind}`))

const jsonOf = ({ name, text }: ContractFile): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${name} is not JSON: ${(cause as Error).message}`, { cause })
  }
}

const openApiOf = (file: ContractFile): JsonObject => {
  const document = jsonOf(file)
  const version = isObject(document) ? document.openapi : undefined
  if (!isObject(document) || !/^3\.[1-9]/.test(String(version)))
    throw new Error(
      `${file.name} is no OpenAPI 3.1 document: its member openapi must be 3.1.0 or later`,
    )
  return document
}

/** The differences between two files of one kind on a day; throws a plain error for one that cannot be read. */
export const diffFiles = (
  before: ContractFile,
  after: ContractFile,
  today: string,
): readonly Difference[] => {
  const kind = kindOf(before.name)
  if (kind === undefined || kind !== kindOf(after.name))
    throw new Error(`${before.name} and ${after.name} must both end in .json or both in .graphql`)
  if (kind === 'json') return diffOpenApi(openApiOf(before), openApiOf(after), today)
  try {
    return diffGraphql(before.text, after.text, today)
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`${before.name} or ${after.name} is no GraphQL schema: ${message}`, { cause })
  }
}

const placeOf = ({ name }: ContractFile, today: string): At => ({
  way: 'either',
  path: name,
  member: name,
  today,
})

/** The difference that a new file is. */
export const fileAdded = (file: ContractFile, today: string): readonly Difference[] =>
  found(placeOf(file, today), 'document-added', `${file.name} is new`)

/** The difference that a file which is gone is: allowed on the day that its `info` announced, or later. */
export const fileRemoved = (file: ContractFile, today: string): readonly Difference[] => {
  const notice = noticeOf(kindOf(file.name) === 'json' ? openApiOf(file).info : undefined)
  return removal(notice, placeOf(file, today), 'document-removed', `${file.name} is gone`)
}
