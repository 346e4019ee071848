/** What the versions of the REST API have differently: the style of each as a whole, and all differences in words, for the page about versions. */

import type { Model } from '#model/model.ts'
import { type Resource, resourceIn } from '#model/resource.ts'
import { type Form, isIn, type Lifetime, type Version, versions } from '#model/version.ts'

/** What a version is as a whole, beside the members of its resources. */
export type VersionStyle = {
  /** The envelope of lists: `data` beside `nextCursor` or numbered `pagination`, or one `pagination` for all lists. */
  readonly lists: 'by paging' | 'uniform'
  /** The body of errors: `{"error": …}`, or a problem of RFC 9457. */
  readonly errors: 'error' | 'problem'
  /** Whether unknown query parameters and unknown values of `sort` are refused; else they are ignored. */
  readonly isStrict: boolean
}

const styles: Readonly<Record<Version, VersionStyle>> = {
  1: { lists: 'by paging', errors: 'error', isStrict: false },
  2: { lists: 'uniform', errors: 'problem', isStrict: true },
}

export const styleOf = (version: Version): VersionStyle => styles[version]

/** A method at a path, with the versions that have it. */
export type VersionedRoute = Lifetime & { readonly method: string; readonly path: string }

/** One difference, and how each version has it, oldest first; text between backticks is code. */
export type VersionDifference = { readonly what: string; readonly ways: readonly string[] }

const code = (text: string) => `\`${text}\``

/** How each version has something, unless all have it alike. */
const difference = (
  what: string,
  way: (version: Version) => string,
): readonly VersionDifference[] => {
  const ways = versions.map(way)
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
  const words = Object.entries(form.words).map(
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
const ofPart = (what: string, partOf: (version: Version) => readonly string[]) => {
  const all = versions.map(partOf)
  const isShared = (name: string) => all.every(names => names.includes(name))
  return difference(
    what,
    version =>
      partOf(version)
        .filter(name => !isShared(name))
        .join(', ') || 'none of its own',
  )
}

/** The differences of a model and its routes: of the versions as a whole first, then of each resource. */
export const differencesOf = (
  { entities }: Model,
  routes: readonly VersionedRoute[],
): readonly VersionDifference[] => [
  ...difference('Lists', version => listWords[styleOf(version).lists]),
  ...difference('Errors', version => errorWords[styleOf(version).errors]),
  ...difference('Unknown query parameters and values of `sort`', version =>
    styleOf(version).isStrict ? '422' : 'ignored; a list is then by id ascending',
  ),
  ...difference('Words in a filter that its field does not have', version =>
    styleOf(version).isStrict ? '422' : 'no row has them; where true and false are due, no effect',
  ),
  ...ofPart('Requests', version =>
    routes
      .filter(route => isIn(route, version))
      .map(({ method, path }) => code(`${method} ${path}`)),
  ),
  ...Object.entries(entities)
    .filter(([, { policy }]) => policy.read && policy.read.kind !== 'nobody')
    .flatMap(([name, entity]) =>
      parts.flatMap(([part, of]) =>
        ofPart(`${part} ${entity.plural}`, version => of(resourceIn(name, entity, version))),
      ),
    ),
]
