/** JSON as a text that people read and compare line by line: what fits in a line stands in one. */

const width = 120

const entriesOf = (value: object): readonly (readonly [string, unknown])[] =>
  Array.isArray(value)
    ? value.map(item => ['', item] as const)
    : Object.entries(value).map(([key, item]) => [`${JSON.stringify(key)}: `, item] as const)

const inOneLine = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const items = entriesOf(value).map(([key, item]) => `${key}${inOneLine(item)}`)
  if (Array.isArray(value)) return `[${items.join(', ')}]`
  return items.length === 0 ? '{}' : `{ ${items.join(', ')} }`
}

/** A JSON value as such a text, indented from `margin` on. */
export const printed = (value: unknown, margin = '', before = 0): string => {
  const line = inOneLine(value)
  const isLong = margin.length + before + line.length > width
  if (!isLong || typeof value !== 'object' || value === null) return line
  const inner = `${margin} `
  const items = entriesOf(value).map(
    ([key, item]) => `${inner}${key}${printed(item, inner, key.length + 1)}`,
  )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${items.join(',\n')}\n${margin}${close}`
}
