// The signatures of the package: each name that an entry point exports, with every type that it leads to, as text that is the same
// wherever the declarations stand. Comments are left out; types of other packages stay names.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ts } from '@ts-morph/common'

const root = fileURLToPath(new URL('..', import.meta.url))
const printer = ts.createPrinter({ removeComments: true })

/** The number of the signatures: one more with each release in which an export goes or a content must be changed. */
const number = 1

/** What a content gets and hands on without looking into it: not part of the promise. */
const handles = {
  ...{ Command: 'unknown', Http: 'unknown', HttpContext: 'unknown', PlanReader: 'Reader' },
  ...{ Predicate: 'unknown', Prepared: 'unknown', Writer: 'unknown' },
}

/** The types of src/, as the compiler writes them into a folder. */
function emitTypes(folder) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const options = [
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--outDir',
    folder,
  ]
  const entries = fs.globSync('src/entry/*.ts', { cwd: root })
  const config = join(folder, 'tsconfig.json')
  const files = entries.map(file => join(root, file))
  const compilerOptions = {
    rootDir: join(root, 'src'),
    typeRoots: [join(root, 'node_modules/@types')],
  }
  fs.writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files }),
  )
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', config, ...options], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the compiler refuses src/:\n${stdout}`)
}

/** The names of a statement that declares something. */
const namesOf = statement =>
  ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.map(({ name }) => name.text)
    : statement.name
      ? [statement.name.text]
      : []

/** A file of types: what it declares and what it imports, by name. */
function parse(folder, path) {
  const text = fs.readFileSync(join(folder, path.replace(/\.ts$/, '.d.ts')), 'utf8')
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const file = { path, source, declared: new Map(), imported: new Map(), exported: [] }
  const target = ({ text }) =>
    text.startsWith('#')
      ? text.slice(1)
      : text.startsWith('.')
        ? join(dirname(path), text)
        : undefined
  for (const statement of source.statements) {
    for (const name of namesOf(statement))
      file.declared.set(name, [...(file.declared.get(name) ?? []), statement])
    const bindings = statement.importClause?.namedBindings ?? statement.exportClause
    if (!statement.moduleSpecifier || !bindings?.elements) continue
    const from = target(statement.moduleSpecifier)
    for (const { name, propertyName } of bindings.elements) {
      const place = { from, name: (propertyName ?? name).text }
      if (ts.isExportDeclaration(statement)) file.exported.push([name.text, place])
      if (from !== undefined) file.imported.set(name.text, place)
    }
  }
  return file
}

/** The names of types that a declaration is made of. */
function referencesIn(node) {
  const found = []
  const first = name => (ts.isQualifiedName(name) ? first(name.left) : name.text)
  const visit = node => {
    if (ts.isTypeReferenceNode(node)) found.push(first(node.typeName))
    if (ts.isTypeQueryNode(node) && !ts.isImportTypeNode(node.exprName))
      found.push(first(node.exprName))
    if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression))
      found.push(node.expression.text)
    ts.forEachChild(node, visit)
  }
  visit(node)
  return found
}

/** The text of the signatures of this checkout. */
export function signatures() {
  const folder = fs.mkdtempSync(join(tmpdir(), 'duet-signatures-'))
  try {
    emitTypes(folder)
    const files = new Map()
    const fileAt = path => {
      if (!files.has(path)) files.set(path, parse(folder, path))
      return files.get(path)
    }
    const declarations = new Map()
    const follow = ({ from, name }) => {
      if (from === undefined) return
      const file = fileAt(from)
      const [, again] = file.exported.find(([exported]) => exported === name) ?? []
      if (again) return follow(again)
      const key = `${name} ${from}`
      if (declarations.has(key)) return
      const handle = handles[name]
      if (handle !== undefined) declarations.set(key, `type ${name} = ${handle};`)
      if (file.declared.has(handle)) follow({ from, name: handle })
      if (handle !== undefined) return
      const statements = file.declared.get(name) ?? []
      declarations.set(
        key,
        statements
          .map(one => printer.printNode(ts.EmitHint.Unspecified, one, file.source))
          .join('\n'),
      )
      for (const statement of statements)
        for (const used of referencesIn(statement))
          if (file.declared.has(used)) follow({ from, name: used })
          else if (file.imported.has(used)) follow(file.imported.get(used))
    }
    const { exports } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'))
    const entries = Object.entries(exports).map(([entry, path]) => {
      const { exported } = fileAt(path.replace('./src/', ''))
      for (const [, place] of exported) follow(place)
      const names = exported.map(([name]) => name).sort()
      return `// ${join('duet', entry)}\nexport { ${names.join(', ')} }\n`
    })
    const bodies = [...declarations]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, text]) => text.replace(/^export (default )?/gm, '').replace(/^declare /gm, ''))
    return [`// Signatures ${number}\n`, ...entries, ...bodies].join('\n')
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) process.stdout.write(signatures())
