/** What can be seen of source files without parsing them: imports, circles, lengths of functions, words. */
import { dirname, join } from 'node:path/posix'

/** A file by its path from the root of the checkout. */
export type File = { readonly path: string; readonly text: string }
export type Import = {
  readonly from: string
  readonly typesOnly: boolean
  /** Loaded when it is needed, and not with the file. */
  readonly isLater: boolean
}

const statement = /^(?:import|export)\s+(type\s)?(?:[\w\s,*${}]+\sfrom\s+)?'([^']+)'/gm
const call = /\bimport\(\s*'([^']+)'/g

/** All that a file imports, types and modules loaded later included. */
export const importsOf = ({ text }: Pick<File, 'text'>): readonly Import[] => [
  ...[...text.matchAll(statement)].map(([, type, from = '']) => ({
    from,
    typesOnly: type !== undefined,
    isLater: false,
  })),
  ...[...text.matchAll(call)].map(([, from = '']) => ({
    from,
    typesOnly: false,
    isLater: true,
  })),
]

/** The path of an imported file from the root of the checkout; undefined for a package. */
export const targetOf = ({ path }: Pick<File, 'path'>, from: string): string | undefined => {
  if (from.startsWith('#content/')) return from.slice(1)
  if (from.startsWith('#')) return `src/${from.slice(1)}`
  return from.startsWith('.') ? join(dirname(path), from) : undefined
}

/** The packages that are loaded with a file, by it or by what it imports. */
export const packagesWith = (path: string, files: readonly File[]): ReadonlySet<string> => {
  const byPath = new Map(files.map(file => [file.path, file]))
  const seen = new Set<string>()
  const packages = new Set<string>()
  const follow = (path: string): void => {
    const file = byPath.get(path)
    if (!file || seen.has(path)) return
    seen.add(path)
    for (const { from, typesOnly, isLater } of importsOf(file)) {
      if (typesOnly || isLater) continue
      const target = targetOf(file, from)
      if (target === undefined) packages.add(from)
      else follow(target)
    }
  }
  follow(path)
  return packages
}

/** The circles that the files' imports run in, each as the way round. */
export const circlesIn = (files: readonly File[]): readonly string[] => {
  const targets = new Map(
    files.map(file => [
      file.path,
      importsOf(file).flatMap(({ from }) => targetOf(file, from) ?? []),
    ]),
  )
  const done = new Set<string>()
  const circles: string[] = []
  const follow = (path: string, way: readonly string[]): void => {
    const at = way.indexOf(path)
    if (at >= 0) circles.push([...way.slice(at), path].join(' → '))
    if (at >= 0 || done.has(path)) return
    for (const target of targets.get(path) ?? []) follow(target, [...way, path])
    done.add(path)
  }
  for (const { path } of files) follow(path, [])
  return circles
}

export type Span = { readonly name: string; readonly line: number; readonly lines: number }

const indentOf = (line: string): number => line.search(/\S/)

/** The line that a statement begins on whose head ends on this one: its parameters may be above. */
const beginOf = (lines: readonly string[], head: number): number => {
  const indent = indentOf(lines[head] ?? '')
  let line = head
  while (line > 0 && /^[)\]}]/.test(lines[line]?.trim() ?? '')) {
    line--
    while (line > 0 && indentOf(lines[line] ?? '') !== indent) line--
  }
  return line
}

/** The line on which what begins here at some depth is closed at the same depth. */
const endOf = (lines: readonly string[], head: number): number => {
  const indent = indentOf(lines[head] ?? '')
  const isEnd = (line: string) => indentOf(line) <= indent && line.trim() !== ''
  const found = lines.findIndex((line, index) => index > head && isEnd(line))
  return found < 0 ? lines.length - 1 : found
}

const block = /(?:=>|^(?!\s*(?:if|for|while|switch|do|else|try|catch)\b).*\)(?:: [^=]+)?) \{$/
const expression = /^(?:export )?const \w+.* =>$/

/** The functions of a file that is formatted: where each begins and how many lines it takes. */
export const functionsIn = ({ text }: Pick<File, 'text'>): readonly Span[] => {
  const lines = text.split('\n')
  return lines.flatMap((line, head) => {
    if (!block.test(line) && !expression.test(line) && !/=>$/.test(line)) return []
    const begin = beginOf(lines, head)
    const end = endOf(lines, head)
    const last = /=>$/.test(line) && !/^[)\]}]/.test(lines[end]?.trim() ?? '') ? end - 1 : end
    return [{ name: lines[begin]?.trim() ?? '', line: begin + 1, lines: last - begin + 1 }]
  })
}

/** The words of a line, in lower case: `orderItems` and `order_items` are two each. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)].map(([word]) => word.toLowerCase())
