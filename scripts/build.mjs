// Builds the package into dist/, a folder that `npm pack ./dist` makes the tarball of: JavaScript, types and source maps of src/ and kit/, what
// the pages load from others with their licences, the examples, the documents and the contract. `npm run build`.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { machineAssets } from '../src/pages/assets.ts'
import { buildAdmin } from './admin.mjs'
import { bundle, fileOf } from './bundle.mjs'

/** The name of the package at npm, and nowhere else: contents import `duet` whatever it is, as their package.json names it so. */
const packageName = 'duet-server'

const root = fileURLToPath(new URL('..', import.meta.url))

const readJson = file => JSON.parse(fs.readFileSync(join(root, file), 'utf8'))
const writeJson = (file, value) => fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

const vendored = new Set(Object.values(machineAssets).flatMap(asset => asset.package ?? []))

/** The manifest of the package: no scripts, no packages for development, nothing that dependents would have to override. */
function manifestOf(checkout) {
  const { version, description, license, type, engines, bin, dependencies } = checkout
  const built = ([entry, file]) => {
    const types = file.replace('./src/', './lib/').replace(/\.ts$/, '.d.ts')
    return [entry, { types, default: `./lib/${fileOf(file.slice(2))}` }]
  }
  const { sharp, ...nodes } = checkout.optionalDependencies
  // A project brings a Node where that of its machine is too old, and sharp where its pictures have sizes.
  const peers = {
    ...Object.fromEntries(Object.keys(nodes).map(name => [name, '>=24.16'])),
    sharp: `^${sharp}`,
  }
  return {
    ...{ name: packageName, version, description, license, type, engines, bin },
    files: ['bin', 'contract', 'docs', 'examples', 'kit', 'lib', 'scripts', 'CHANGELOG.md'],
    // Of the types: the modules are in a few files.
    imports: { '#kit/*.ts': { types: './kit/*.d.ts' }, '#*.ts': { types: './lib/*.d.ts' } },
    exports: {
      ...Object.fromEntries(Object.entries(checkout.exports).map(built)),
      './package.json': './package.json',
    },
    dependencies: Object.fromEntries(
      Object.entries(dependencies).filter(([name]) => !vendored.has(name)),
    ),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(
      Object.keys(peers).map(name => [name, { optional: true }]),
    ),
  }
}

/** The houses of the package, each with its folder there. */
const houses = { src: 'lib', kit: 'kit' }

/** Writes the types of copies of the houses: beside a manifest by which the compiler finds `#room/file.ts` in what it writes. */
function writeTypes(dist) {
  const imports = { '#kit/*.ts': './made/kit/*.js', '#*.ts': './made/lib/*.js' }
  writeJson(join(dist, 'package.json'), { ...manifestOf(readJson('package.json')), imports })
  const isSource = file => !/\.test\.ts$/.test(file)
  const source = join(dist, 'source')
  for (const [house, folder] of Object.entries(houses))
    fs.cpSync(join(root, house), join(source, folder), { recursive: true, filter: isSource })
  const config = join(dist, 'tsconfig.json')
  writeJson(config, {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      ...{
        noEmit: false,
        rootDir: 'source',
        outDir: 'made',
        rewriteRelativeImportExtensions: true,
      },
      ...{ declaration: true, emitDeclarationOnly: true },
    },
    include: ['source'],
  })
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', dist], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the compiler refuses the code as a package:\n${stdout}`)
  fs.rmSync(config)
  for (const folder of Object.values(houses))
    fs.renameSync(join(dist, 'made', folder), join(dist, folder))
  fs.rmSync(join(dist, 'made'), { recursive: true })
}

/** Where a module is at home in the package, from the files that were made: beside it are its assets and migrations. */
const placeInPackage = source =>
  `${source.startsWith('src/') ? `./${source.slice(4, -3)}` : `../${source.slice(0, -3)}`}.js`

/** What stands beside the code, such as migrations. */
function completeCode(dist) {
  for (const folder of Object.values(houses)) {
    const source = join(dist, 'source', folder)
    for (const file of fs.globSync('**/*', { cwd: source, withFileTypes: true })) {
      if (!file.isFile() || extname(file.name) === '.ts') continue
      const from = join(file.parentPath, file.name)
      const to = join(dist, folder, relative(source, from))
      fs.mkdirSync(dirname(to), { recursive: true })
      fs.copyFileSync(from, to)
    }
  }
  fs.rmSync(join(dist, 'source'), { recursive: true })
}

/** GraphiQL, Swagger UI and what they need: the files that the pages load, and each package's licence. */
function copyVendored(dist) {
  const packages = join(root, 'node_modules')
  const files = Object.values(machineAssets).flatMap(({ package: from, file }) =>
    from === undefined ? [] : [join(from, file)],
  )
  const licences = [...vendored].flatMap(name =>
    fs.globSync(`${name}/{LICENSE,NOTICE,*.LICENSE.txt}*`, { cwd: packages }),
  )
  for (const file of [...files, ...licences]) {
    const to = join(dist, 'lib/pages/vendor', file)
    fs.mkdirSync(dirname(to), { recursive: true })
    fs.copyFileSync(join(packages, file), to)
  }
}

/** The examples that `duet init` copies. Their TypeScript is text here, `.ts.txt`: Node runs none below node_modules. */
function copyExamples(dist) {
  for (const file of fs.globSync('examples/**/*', { cwd: root, withFileTypes: true })) {
    if (!file.isFile()) continue
    const from = join(file.parentPath, file.name)
    const to = join(
      dist,
      relative(root, file.parentPath),
      extname(from) === '.ts' ? `${file.name}.txt` : file.name,
    )
    fs.mkdirSync(dirname(to), { recursive: true })
    fs.copyFileSync(from, to)
  }
}

/** The README of the package is a document, whose links begin in the folder above it then, and which names its tarball. */
function moveReadme(dist, tarball) {
  const text = fs.readFileSync(join(dist, 'docs/package.md'), 'utf8')
  const moved = text.replace(/\]\((?![a-z]+:)([^)\s]+)\)/g, (_, path) => `](${join('docs', path)})`)
  fs.writeFileSync(join(dist, 'README.md'), moved.replaceAll('NAME-VERSION.tgz', tarball))
  fs.rmSync(join(dist, 'docs/package.md'))
}

/** The documents of the package are about projects, where `npx` finds the program; pictures and pages of the checkout alone stay behind. */
function ownDocuments(dist) {
  for (const name of ['tour.md', 'comparison.md', 'nightly.json', 'pictures'])
    fs.rmSync(join(dist, 'docs', name), { recursive: true, force: true })
  for (const name of fs.globSync('docs/*.md', { cwd: dist })) {
    const file = join(dist, name)
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replaceAll('bin/duet', 'npx duet'))
  }
}

/** In documents, links to what is in the checkout and not in the package become their words. */
function unlinkMissing(dist) {
  for (const name of fs.globSync('**/*.md', { cwd: dist })) {
    const file = join(dist, name)
    const text = fs.readFileSync(file, 'utf8')
    const linked = text.replace(
      /\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
      (link, words, target) => {
        const [path] = target.split('#')
        const leads =
          path === '' || /^[a-z]+:/.test(path) || fs.existsSync(join(dirname(file), path))
        return leads ? link : words
      },
    )
    if (linked !== text) fs.writeFileSync(file, linked)
  }
}

/** Builds the package into a folder that has this checkout's node_modules beside or above it; throws a plain error if the compiler refuses it. */
export async function build(dist) {
  await buildAdmin()
  fs.rmSync(dist, { recursive: true, force: true })
  fs.mkdirSync(dist, { recursive: true })
  writeTypes(dist)
  await bundle(join(dist, 'lib'), placeInPackage)
  writeJson(join(dist, 'package.json'), manifestOf(readJson('package.json')))
  completeCode(dist)
  // What browsers load is no module of the package.
  writeJson(join(dist, 'lib/pages/assets/package.json'), { type: 'commonjs' })
  copyVendored(dist)
  copyExamples(dist)
  for (const name of ['bin', 'docs', 'LICENSE', 'CHANGELOG.md'])
    fs.cpSync(join(root, name), join(dist, name), { recursive: true })
  fs.mkdirSync(join(dist, 'contract'))
  fs.copyFileSync(join(root, 'contract/package.d.ts'), join(dist, 'contract/package.d.ts'))
  ownDocuments(dist)
  moveReadme(dist, `${packageName}-${readJson('package.json').version}.tgz`)
  for (const name of ['pinned-node.mjs', 'hand-over.mjs'])
    fs.cpSync(join(root, 'scripts', name), join(dist, 'scripts', name))
  unlinkMissing(dist)
}

if (import.meta.main) {
  await build(join(root, 'dist'))
  console.log('dist/ is built; npm pack ./dist makes the tarball')
}
