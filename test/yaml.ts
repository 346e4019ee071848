/** Reads the plain YAML of deploy/: maps, lists and scalars, one entry a line; anything else is refused. */

export type Yaml = string | readonly Yaml[] | { readonly [key: string]: Yaml }

type Line = { readonly indent: number; readonly text: string }

const linesOf = (text: string): Line[] =>
  text.split('\n').flatMap(line => {
    const bare = line.replace(/(^|\s)#.*$/, '').trimEnd()
    if (bare.trim() === '') return []
    if (/\t/.test(bare)) throw new Error(`a tab in: ${line}`)
    return [{ indent: bare.search(/\S/), text: bare.trim() }]
  })

const scalar = (text: string): Yaml => {
  if (text === '{}') return {}
  if (/^\[.*\]$/.test(text)) return JSON.parse(text)
  if (text.startsWith('"')) return JSON.parse(text)
  if (/^[&*!|>'{[@`%]/.test(text)) throw new Error(`not plain: ${text}`)
  return text
}

/** Takes the lines of one thing, all at the indent of the first or deeper. */
const thing = (lines: Line[]): Yaml => {
  const [first] = lines
  if (!first) throw new Error('nothing is there')
  return first.text.startsWith('- ') ? list(lines, first.indent) : map(lines, first.indent)
}

const list = (lines: Line[], indent: number): Yaml => {
  const items: Yaml[] = []
  while (lines[0]?.indent === indent && lines[0].text.startsWith('- ')) {
    const text = lines[0].text.slice(2)
    if (!/^[\w.-]+:( |$)/.test(text)) {
      lines.shift()
      items.push(scalar(text))
      continue
    }
    // The first key of a map that stands beside its dash.
    lines[0] = { indent: indent + 2, text }
    items.push(map(lines, indent + 2))
  }
  return items
}

const map = (lines: Line[], indent: number): Yaml => {
  const found: Record<string, Yaml> = {}
  while (lines[0]?.indent === indent) {
    const { text } = lines.shift() as Line
    const [, key, value] = /^([\w./-]+):(?: (.*))?$/.exec(text) ?? []
    if (key === undefined || key in found) throw new Error(`no key of its own: ${text}`)
    found[key] = value === undefined ? thing(lines) : scalar(value)
  }
  if (lines[0] && lines[0].indent > indent) throw new Error(`too deep: ${lines[0].text}`)
  return found
}

/** The documents in a text; every scalar is a text. */
export const parseYaml = (text: string): readonly Yaml[] =>
  text.split(/^---$/m).map(part => {
    const lines = linesOf(part)
    const found = thing(lines)
    if (lines[0]) throw new Error(`not understood: ${lines[0].text}`)
    return found
  })

/** What is at a path of keys and indexes; throws where nothing is. */
export const at = (yaml: Yaml | undefined, ...path: readonly (string | number)[]): Yaml => {
  let found = yaml
  for (const step of path) found = (found as Record<string | number, Yaml> | undefined)?.[step]
  if (found === undefined) throw new Error(`nothing is at ${path.join('.')}`)
  return found
}
