/** Compares two files of a contract, OpenAPI in JSON, a GraphQL schema or signatures of the package, and writes the differences as people read them. */
import { isObject, type JsonObject } from '#base/object.ts'
import {
  type ContractDifference,
  type DiffContext,
  type Differences,
  noticeOf,
  tell,
  tellRemoval,
} from '#kit/contract/difference.ts'
import { diffGraphql } from '#kit/contract/graphql.ts'
import { diffOpenApi } from '#kit/contract/openapi.ts'
import { classes } from '#kit/contract/rules.ts'
import { diffSignatures } from '#kit/contract/signatures.ts'

/** A file of a contract. */
export type ContractFile = { readonly name: string; readonly text: string }

const contractKinds = ['json', 'graphql', 'ts'] as const

/** The kind of contract that a file name's end says; undefined for another. */
export const kindOf = (name: string): (typeof contractKinds)[number] | undefined =>
  contractKinds.find(kind => name.endsWith(`.${kind}`))

/** The JSON of a file; throws a plain error that names one that is none. */
export const jsonOf = ({ name, text }: ContractFile): unknown => {
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
): Differences => {
  const kind = kindOf(before.name)
  if (kind === undefined || kind !== kindOf(after.name))
    throw new Error(`${before.name} and ${after.name} must both end in .json, .graphql or .ts`)
  if (kind === 'json') return diffOpenApi(openApiOf(before), openApiOf(after), today)
  if (kind === 'ts') return diffSignatures(before, after)
  try {
    return diffGraphql(before.text, after.text, today)
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`${before.name} or ${after.name} is no GraphQL schema: ${message}`, { cause })
  }
}

const placeOf = ({ name }: ContractFile, today: string): DiffContext => ({
  way: 'either',
  path: name,
  member: name,
  today,
  found: [],
})

/** The difference that a new file is. */
export const fileAdded = (file: ContractFile, today: string): Differences => {
  const at = placeOf(file, today)
  tell(at, 'document-added', `${file.name} is new`)
  return at.found
}

/** The difference that a file which is gone is: allowed on the day that its `info` announced, or later. */
export const fileRemoved = (file: ContractFile, today: string): Differences => {
  const at = placeOf(file, today)
  const notice = noticeOf(kindOf(file.name) === 'json' ? openApiOf(file).info : undefined)
  tellRemoval(notice, at, 'document-removed', `${file.name} is gone`)
  return at.found
}

/** The paths of one operation that differ in the status alone as one path, with all the statuses in it. */
const merged = (paths: readonly string[]): readonly string[] => {
  const steps = paths.map(path => path.split(' → '))
  const same = Map.groupBy(steps, ([operation, , ...rest]) => JSON.stringify([operation, rest]))
  return [...same.values()].map(all => {
    const [operation, , ...rest] = all[0] ?? []
    const statuses = new Set(all.map(([, status]) => status ?? ''))
    return [operation, [...statuses].join(', '), ...rest].filter(step => step !== '').join(' → ')
  })
}

/** All places of what breaks, a few of what does not: a new version alone has hundreds of some. */
const told = (name: string, places: readonly string[]): readonly string[] =>
  name === 'breaking' || places.length < 6
    ? places
    : [...places.slice(0, 4), `and ${places.length - 4} more`]

/** Every difference with its places, by class with the worst first; empty if there is none. */
export const report = (differences: Differences): string =>
  classes
    .flatMap(name => {
      const some = differences.filter(difference => difference.class === name)
      const same = Map.groupBy(some, ({ rule, message, hits }) => `  ${rule}: ${message} (${hits})`)
      const lines = [...same].flatMap(([what, all]) => [
        what,
        ...told(name, merged(all.map(({ path }) => path))).map(place => `    ${place}`),
      ])
      return some.length === 0 ? [] : [`${name}: ${some.length}`, ...lines]
    })
    .map(line => `${line}\n`)
    .join('')

/** How many differences of each class there are, in words. */
export const counts = (differences: Differences): string =>
  classes
    .map(name => `${differences.filter(difference => difference.class === name).length} ${name}`)
    .join(', ')

/** The items of the changelog's unreleased part, each with the texts that it sets as code. */
const unreleasedItems = (changelog: string): readonly (readonly string[])[] => {
  const [, part = ''] = /^## Unreleased$(.*?)(?=^## |$(?![\s\S]))/ms.exec(changelog) ?? []
  return part
    .split(/^[*-] /m)
    .slice(1)
    .map(item => [...item.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
}

/** Whether one item of the changelog's unreleased part names, as code, all that a difference is about. */
export const isNamed = (changelog: string, { names }: ContractDifference): boolean => {
  const forms = names.map(name => new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`))
  return unreleasedItems(changelog).some(codes =>
    forms.every(form => codes.some(code => form.test(code))),
  )
}
