/** The kinds of rows that `import` reads and `export` writes, by their names in files. */
import { own } from '#base/object.ts'
import { UsageError } from '#cli/arguments.ts'
import type { Content, InputRow, TransferKind } from '#content.ts'
import type { FieldFault } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { dependenciesFirst } from '#model/references.ts'

/** The lists that are embedded in the rows of a kind in files: an import of the content's own takes them, the rows of others are a kind. */
export const embeddedIn = (kind: Partial<TransferKind> | undefined, { rest }: Entity) =>
  kind?.rows ? rest.embedded : {}

/** Whether an entity is a kind: somebody may read its rows, and they do not go with those of another entity. */
const isKind = (content: Content, name: string, { policy, fields }: Entity): boolean => {
  const isEmbedded = Object.entries(content.entities).some(([parent, entity]) =>
    Object.keys(embeddedIn(content.transfer[parent], entity)).some(
      relation => entity.relations[relation]?.to === name,
    ),
  )
  return policy.read !== undefined && !isEmbedded && Object.values(fields).some(({ rest }) => rest)
}

/** The kinds of a content by their plurals, in an order in which they can be imported: targets of references come first. */
export const kindsOf = (content: Content): Readonly<Record<string, TransferKind>> =>
  Object.fromEntries(
    dependenciesFirst(content.entities).flatMap(([name, entity]) =>
      isKind(content, name, entity)
        ? [[entity.plural, { entity: name, also: [], foreign: {}, ...content.transfer[name] }]]
        : [],
    ),
  )

/** The kind of that plural; throws UsageError if there is none. */
export const kindOf = (content: Content, plural: string): TransferKind => {
  const kinds = kindsOf(content)
  const found = own(kinds, plural)
  if (!found)
    throw new UsageError(
      `KIND must be one of ${Object.keys(kinds).join(', ')}, not ${plural || 'nothing'}`,
    )
  return found
}

export type Format = 'ndjson' | 'csv'

/** The format that a file's ending says; undefined for another ending. */
export const formatOf = (file: string): Format | undefined => {
  if (file.endsWith('.csv')) return 'csv'
  return /\.(nd)?jsonl?$/.test(file) ? 'ndjson' : undefined
}

/** Renames and leaves out members by the kind's table, and collects their names for a notice. */
export const renaming = ({ foreign }: TransferKind) => {
  const foreignNames = new Set<string>()
  const rename = (row: InputRow) => {
    const faults: FieldFault[] = []
    const entries = Object.entries(row).flatMap(([member, value]) => {
      const name = own(foreign, member)
      if (name === undefined) return [[member, value]]
      foreignNames.add(member)
      if (name === null) return []
      if (Object.hasOwn(row, name))
        faults.push({ field: member, message: `stands for ${name}, which is given too` })
      return [[name, value]]
    })
    return { row: Object.fromEntries(entries) as InputRow, faults }
  }
  /** One line on the foreign members; undefined if there were none. */
  const notice = (): string | undefined => {
    const names = [...foreignNames]
    const left = names.filter(name => foreign[name] === null)
    const parts = names
      .filter(name => foreign[name])
      .map(name => `${name} is kept as ${foreign[name]}`)
    if (left.length > 0) parts.push(`not kept: ${left.join(', ')}`)
    return parts.join('; ') || undefined
  }
  return { rename, notice }
}
