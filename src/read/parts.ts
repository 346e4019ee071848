/** The text of a row as parts: text that is the same for every row is joined when the plan is made. */
import { mapped } from '#base/object.ts'
import type { Entity, Link, Links } from '#model/entity.ts'
import { keyOf, type Part } from '#read/level.ts'

export const textPart = (text: string): Part => ({ kind: 'text', text })

/** `/things/{id}/parts` below a prefix, as the text and fields of a JSON string. */
const pathParts = (prefix: string, template: string): Part[] =>
  `${prefix}${template}`
    .split(/\{(\w+)\}/)
    .map((piece, index) =>
      index % 2 === 0
        ? textPart(JSON.stringify(piece).slice(1, -1))
        : { kind: 'field', field: piece, as: 'path' },
    )

const linkParts = ({ href, method }: Link, prefix: string): Part[] => [
  textPart('{"href":"'),
  ...pathParts(prefix, href),
  textPart(method === undefined ? '"}' : `","method":"${method}"}`),
]

/** The parts with adjacent texts merged, so that stitching has fewer to join. */
export const merged = (parts: readonly Part[]): Part[] => {
  const result: Part[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (part.kind === 'text' && last?.kind === 'text')
      result[result.length - 1] = textPart(last.text + part.text)
    else result.push(part)
  }
  return result
}

export const objectParts = (members: readonly (readonly [string, readonly Part[]])[]): Part[] => [
  textPart('{'),
  ...members.flatMap(([key, parts], index) => [
    textPart(`${index === 0 ? '' : ','}${JSON.stringify(key)}:`),
    ...parts,
  ]),
  textPart('}'),
]

/** A link as a member; it is left out where a field in its path is null. */
const linkMember = (entity: Entity, prefix: string, name: string, link: Link): readonly Part[] => {
  const parts = linkParts(link, prefix)
  const nullable = parts.flatMap(fieldsOf).filter(field => entity.fields[field]?.nullable)
  const member = [textPart(`${JSON.stringify(name)}:`), ...parts]
  return nullable.length > 0 ? [{ kind: 'present', fields: nullable, parts: member }] : member
}

/** A member with the comma before it; the model's check makes sure that the first member is never left out. */
const separated = ([part, ...rest]: readonly Part[]): readonly Part[] =>
  part?.kind === 'present'
    ? [{ ...part, parts: [textPart(','), ...part.parts] }, ...rest]
    : [textPart(','), ...(part ? [part] : []), ...rest]

/** The object of links below a prefix, by state where they differ by it. */
export const linksParts = (links: Links, prefix: string, entity: Entity): readonly Part[] => {
  const object = (named: Readonly<Record<string, Link>>) => {
    const [first = [], ...others] = Object.entries(named).map(([name, link]) =>
      linkMember(entity, prefix, name, link),
    )
    return merged([textPart('{'), ...first, ...others.flatMap(separated), textPart('}')])
  }
  const cases = mapped(links.cases, object)
  return links.by === null
    ? Object.values(cases).flat()
    : [{ kind: 'case', field: links.by, cases }]
}

/** The fields that a part needs. */
export const fieldsOf = (part: Part): readonly string[] => {
  switch (part.kind) {
    case 'text':
      return []
    case 'field':
      return [part.field]
    case 'case':
      return [...Object.values(part.cases).flat().flatMap(fieldsOf), part.field]
    case 'present':
      return [...part.parts.flatMap(fieldsOf), ...part.fields]
    case 'child':
      return [keyOf(part.level)]
    default:
      return part satisfies never
  }
}
