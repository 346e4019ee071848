/** The kinds of rows that `import` reads and `export` writes, by their names in files. */
import { own } from '#base/object.ts'
import { UsageError } from '#cli/arguments.ts'
import type { Kind } from '#cli/row-sources.ts'
import type { Content } from '#content.ts'
import type { Entity } from '#model/entity.ts'
import { dependenciesFirst } from '#model/references.ts'

/** Whether an entity is a kind: somebody may read its rows, and they are not embedded in those of another entity. */
const isKind = (content: Content, name: string, { policy, fields }: Entity): boolean => {
  const isEmbedded = Object.values(content.entities).some(({ rest, relations }) =>
    Object.keys(rest.embedded).some(relation => relations[relation]?.to === name),
  )
  return policy.read !== undefined && !isEmbedded && Object.values(fields).some(({ rest }) => rest)
}

/** The kinds of a content by their plurals, in an order in which they can be imported: targets of references come first. */
export const kindsOf = (content: Content): Readonly<Record<string, Kind>> =>
  Object.fromEntries(
    dependenciesFirst(content.entities).flatMap(([name, entity]) =>
      isKind(content, name, entity)
        ? [[entity.plural, { entity: name, also: [], foreign: {}, ...content.transfer[name] }]]
        : [],
    ),
  )

/** The kind of that plural; throws UsageError where there is none. */
export const kindOf = (content: Content, plural: string): Kind => {
  const kinds = kindsOf(content)
  const found = own(kinds, plural)
  if (!found)
    throw new UsageError(
      `KIND must be one of ${Object.keys(kinds).join(', ')}, not ${plural || 'nothing'}`,
    )
  return found
}

/** The name here of a member in a file. */
export const nameOf = ({ foreign }: Kind, member: string): string => own(foreign, member) ?? member

export type Format = 'ndjson' | 'csv'

/** The format that a file's ending says; undefined for another ending. */
export const formatOf = (file: string): Format | undefined => {
  if (file.endsWith('.csv')) return 'csv'
  return /\.(nd)?jsonl?$/.test(file) ? 'ndjson' : undefined
}
