/** The text of a row as parts: what is the same for every row is joined when the plan is made. */
import type { Link, Links } from '#model/entity.ts'

/** A piece of the text of a row: given text, a column's value, or what an earlier-stitched level holds for this row. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'column'; readonly column: number; readonly as: 'value' | 'path' }
  /** Other parts by what a column says; none for a value without a case. */
  | {
      readonly kind: 'case'
      readonly column: number
      readonly cases: Readonly<Record<string, readonly Part[]>>
    }
  | { readonly kind: 'child'; readonly level: number; readonly key: number; readonly many: boolean }

export const textPart = (text: string): Part => ({ kind: 'text', text })

/** `/users/{id}/posts` below a prefix, as the text and columns of a JSON string. */
const pathParts = (prefix: string, template: string, indexOf: (field: string) => number): Part[] =>
  `${prefix}${template}`
    .split(/\{(\w+)\}/)
    .map((piece, index) =>
      index % 2 === 0
        ? textPart(JSON.stringify(piece).slice(1, -1))
        : { kind: 'column', column: indexOf(piece), as: 'path' },
    )

const linkParts = (link: Link, prefix: string, indexOf: (field: string) => number): Part[] => {
  const { href, method } = typeof link === 'string' ? { href: link, method: undefined } : link
  return [
    textPart('{"href":"'),
    ...pathParts(prefix, href, indexOf),
    textPart(method === undefined ? '"}' : `","method":"${method}"}`),
  ]
}

/** Text pieces beside each other made one, so that stitching has fewer to join. */
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

/** The object of links below a prefix, by state where they differ by it. */
export const linksParts = (
  links: Links,
  prefix: string,
  indexOf: (field: string) => number,
): readonly Part[] => {
  const object = (named: Readonly<Record<string, Link>>) =>
    merged(
      objectParts(
        Object.entries(named).map(([name, link]) => [name, linkParts(link, prefix, indexOf)]),
      ),
    )
  if (links.by === null) return object(links.all)
  const cases = Object.entries(links.cases).map(([value, named]) => [value, object(named)] as const)
  return [{ kind: 'case', column: indexOf(links.by), cases: Object.fromEntries(cases) }]
}
