/** What the versions of the REST API have differently: the style of each as a whole, and all differences in words, for the page about versions. */

import type { Model } from '#model/model.ts'
import { type Resource, resourceIn } from '#model/resource.ts'
import {
  type Form,
  isIn,
  type Lifetime,
  type Version,
  type VersionStyle,
  type Versions,
} from '#model/version.ts'

/** A method at a path, with the versions that have it. */
export type VersionedRoute = Lifetime & { readonly method: string; readonly path: string }

/** One difference, and how each version has it, oldest first; text between backticks is code. */
export type VersionDifference = { readonly what: string; readonly ways: readonly string[] }

const code = (text: string) => `\`${text}\``

/** How each version has something, unless all have it alike. */
const difference = (
  { all }: Versions,
  what: string,
  way: (version: Version) => string,
): readonly VersionDifference[] => {
  const ways = all.map(way)
  return new Set(ways).size > 1 ? [{ what, ways }] : []
}

const listWords = {
  'by paging': '`data` with `pagination`, or with `nextCursor` where pages go by cursor',
  uniform:
    '`data` with `pagination`: `limit`, `hasNext`, `nextCursor`; numbered pages also `page`, `total`, `totalPages`, `hasPrev`',
} satisfies Record<VersionStyle['lists'], string>

const errorWords = {
  error: '`{"error": …}` with `code`, `message`, `details`, `requestId`',
  problem:
    '`application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, `code`, `errors`, `requestId`',
} satisfies Record<VersionStyle['errors'], string>

const formed = (name: string, form: Form | undefined): string => {
  if (form === undefined) return code(name)
  if (typeof form === 'string') return `${code(name)} ${form}`
  const words = Object.entries(form.values).map(
    ([word, other]) => `${code(other)} for ${code(word)}`,
  )
  return `${code(name)} with ${words.join(', ')}`
}

/** The parts of a resource that versions may have differently. */
const parts: readonly (readonly [string, (resource: Resource) => readonly string[]])[] = [
  [
    'Members of',
    ({ members }) =>
      members.map(member =>
        member.kind === 'field' ? formed(member.name, member.form) : code(member.name),
      ),
  ],
  [
    'Links of',
    ({ members }) => {
      const links = members.find(member => member.kind === 'links')?.links
      return [...new Set(Object.values(links?.cases ?? {}).flatMap(Object.keys))].map(code)
    },
  ],
  ['Filters of', ({ filters }) => Object.keys(filters).map(code)],
  ['Values of `sort` of', ({ sorts }) => sorts.map(({ name }) => code(name))],
]

/** Only the names that not all versions share: the others would hide them. */
const ofPart = (
  versions: Versions,
  what: string,
  partOf: (version: Version) => readonly string[],
) => {
  const named = versions.all.map(partOf)
  const isShared = (name: string) => named.every(names => names.includes(name))
  return difference(
    versions,
    what,
    version =>
      partOf(version)
        .filter(name => !isShared(name))
        .join(', ') || 'none of its own',
  )
}

/** The differences of a model and its routes: of the versions as a whole first, then of each resource. */
export const differencesOf = (
  { entities, versions }: Model,
  routes: readonly VersionedRoute[],
): readonly VersionDifference[] => [
  ...difference(versions, 'Lists', version => listWords[versions.styleOf(version).lists]),
  ...difference(versions, 'Errors', version => errorWords[versions.styleOf(version).errors]),
  ...difference(versions, 'Unknown query parameters and values of `sort`', version =>
    versions.styleOf(version).isStrict ? '422' : 'ignored; a list is then by id ascending',
  ),
  ...difference(versions, 'Words in a filter that its field does not have', version =>
    versions.styleOf(version).isStrict
      ? '422'
      : 'no row has them; where true and false are due, no effect',
  ),
  ...ofPart(versions, 'Requests', version =>
    routes
      .filter(route => isIn(route, version))
      .map(({ method, path }) => code(`${method} ${path}`)),
  ),
  ...Object.entries(entities)
    .filter(([, { policy }]) => policy.read && policy.read.kind !== 'nobody')
    .flatMap(([name, entity]) =>
      parts.flatMap(([part, of]) =>
        ofPart(versions, `${part} ${entity.plural}`, version =>
          of(resourceIn(name, entity, version)),
        ),
      ),
    ),
]
