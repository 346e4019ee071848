/** The regular expressions of the code that what callers send is held against. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ts } from '@ts-morph/common'

const root = fileURLToPath(new URL('../..', import.meta.url))
const rooms = ['auth', 'base', 'graphql', 'http', 'model', 'read', 'rest', 'sql', 'write']

const literalsOf = (file: string): readonly string[] => {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.RegularExpressionLiteral)
      found.push((node as ts.RegularExpressionLiteral).text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(root + file, 'utf8'), ts.ScriptTarget.Latest))
  return found
}

const compiled = (literal: string): RegExp => {
  const [, pattern = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(literal) ?? []
  return new RegExp(pattern, flags.replace('g', ''))
}

/** Each expression of the rooms that callers reach, with its file and as it is written there. */
export const regexesReached = () =>
  globSync([`src/{${rooms}}/**/*.ts`, 'content/!(test)/**/*.ts'], { cwd: root })
    .map(file => file.replaceAll('\\', '/'))
    .filter(file => !file.endsWith('.test.ts'))
    .flatMap(file =>
      literalsOf(file).map(literal => ({ file, literal, pattern: compiled(literal) })),
    )
