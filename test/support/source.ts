/** What can be seen of source files without parsing them: imports, circles, types, lengths, words. */
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
  if (/^#(content|kit|test)\//.test(from)) return from.slice(1)
  // An entry point of the package, by its own name.
  if (/^duet(\/\w+)?$/.test(from)) return `src/entry/${from.split('/')[1] ?? 'duet'}.ts`
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

/** A type that a file declares for itself or for others. */
type DeclaredType = { readonly name: string; readonly path: string; readonly isExported: boolean }

const declaration = /^(export )?(?:declare )?(?:abstract )?(?:type|interface|class) ([A-Z]\w*)/gm

/** The names of types that several files declare, each with those declarations. */
export const sharedTypes = (
  files: readonly File[],
): readonly (readonly [name: string, declared: readonly DeclaredType[]])[] => {
  const all = files.flatMap(({ path, text }) =>
    [...text.matchAll(declaration)].map(
      ([, exported, name = '']): DeclaredType => ({
        name,
        path,
        isExported: exported !== undefined,
      }),
    ),
  )
  return [...Map.groupBy(all, ({ name }) => name)].filter(([, { length }]) => length > 1)
}

/** How many lines a file has. */
export const linesOf = ({ text }: File): number => text.split('\n').length - 1

/** The functions and classes at the top of a formatted file, with their lengths in lines; what is in them is shorter. */
export const functionsOf = ({
  path,
  text,
}: File): readonly { readonly name: string; readonly lines: number }[] => {
  const statements = text.split(/\n(?=[a-z/@])/)
  return statements.flatMap(statement => {
    const [first = ''] = statement.split('\n', 1)
    const [, name] =
      /^(?:export |default |async )*(?:function\*? |class |const )(\w+)/.exec(first) ?? []
    const isCode =
      /^(?:export |default |async )*(?:function|class)|=>|= (?:async )?(?:function|(?:<[^>]*>)?\()/
    if (name === undefined || !isCode.test(first)) return []
    return [{ name: `${name} in ${path}`, lines: statement.trimEnd().split('\n').length }]
  })
}

/** The files that import each of these files. */
export const importersOf = (files: readonly File[]): ReadonlyMap<string, readonly string[]> => {
  const importers = new Map(files.map(({ path }) => [path, [] as string[]]))
  for (const file of files)
    for (const target of new Set(importsOf(file).map(({ from }) => targetOf(file, from) ?? '')))
      importers.get(target)?.push(file.path)
  return importers
}

/** The words of a line, in lower case: `orderItems` and `order_items` are two each. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)].map(([word]) => word.toLowerCase())
