/** Compares the signatures of two packages: what their entry points export, and the types that this leads to. */
import type { ContractDifference, Differences } from '#kit/contract/difference.ts'

const signatureRules = {
  'export-removed': 'breaking',
  'signature-changed': 'risky',
  'export-added': 'compatible',
  'signature-wider': 'compatible',
} as const

/** A file of signatures: the exported names of each entry point, and the lines of each declaration by name. */
type Signatures = {
  readonly exports: ReadonlyMap<string, ReadonlySet<string>>
  readonly declarations: ReadonlyMap<string, readonly string[]>
}

const signaturesIn = ({ name: file, text }: { name: string; text: string }): Signatures => {
  const exports = new Map<string, ReadonlySet<string>>()
  const declarations = new Map<string, string[]>()
  let entry = ''
  let current: string[] = []
  for (const line of text.split('\n')) {
    const [, named] = /^\/\/ (\S+)$/.exec(line) ?? []
    const [, listed] = /^export \{ (.*) \}$/.exec(line) ?? []
    const [, declared] =
      /^(?:abstract )?(?:type|class|interface|const|let|function) ([\w$]+)/.exec(line) ?? []
    if (named !== undefined) entry = named
    else if (listed !== undefined) exports.set(entry, new Set(listed.split(', ')))
    else {
      if (declared !== undefined) current = declarations.getOrInsertComputed(declared, () => [])
      if (line !== '') current.push(line)
    }
  }
  if (exports.size === 0)
    throw new Error(`${file} has no signatures: npm run contract writes them in contract/`)
  return { exports, declarations }
}

/** Whether a declaration only got members that may be left out. */
const isWider = (was: readonly string[], is: readonly string[]): boolean => {
  let at = 0
  for (const line of is)
    if (line === was[at]) at++
    else if (!/^\s+(readonly )?[\w$]+\?: .*;$/.test(line)) return false
  return at === was.length
}

/** The differences between the signatures of two packages. */
export const diffSignatures = (
  before: { readonly name: string; readonly text: string },
  after: { readonly name: string; readonly text: string },
): Differences => {
  const [was, is] = [signaturesIn(before), signaturesIn(after)]
  const all: ContractDifference[] = []
  const add = (rule: keyof typeof signatureRules, path: string, name: string, message: string) =>
    all.push({
      ...{ class: signatureRules[rule], rule, path, message },
      ...{ hits: 'contents that use it', names: [name] },
    })
  for (const entry of new Set([...was.exports.keys(), ...is.exports.keys()])) {
    const [old, now] = [was, is].map(({ exports }) => exports.get(entry) ?? new Set<string>())
    for (const name of old?.difference(now ?? new Set()) ?? [])
      add('export-removed', entry, name, `${name} is gone`)
    for (const name of now?.difference(old ?? new Set()) ?? [])
      add('export-added', entry, name, `${name} is new`)
  }
  // What only one of them declares is told by what leads to it, and by the exports.
  for (const [name, lines] of was.declarations) {
    const now = is.declarations.get(name)
    if (now === undefined || now.join('\n') === lines.join('\n')) continue
    if (isWider(lines, now)) add('signature-wider', name, name, `${name} may have more members`)
    else add('signature-changed', name, name, `${name} is another`)
  }
  return all
}
