/** Checks the package: what is in it, what it keeps closed, and that a content outside the checkout is served by it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { transformSync } from 'esbuild'
import { versionPath } from '#base/paths.ts'
import content from '#content/duet.config.ts'
import { folderOf, plain, serveBy } from '../duet.ts'
import { pinned, pretend, root } from '../support/checkouts.ts'
import { packed, projectWith } from '../support/package.ts'

const { freshStore } = folderOf('package')
const tarball = await packed()
const project = projectWith(tarball)
const installed = join(project, 'node_modules/duet')
const program = join(installed, 'bin/duet')
const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))

const run = (args: readonly string[], cwd = project) =>
  spawnSync(process.execPath, args, { cwd, env: plain, encoding: 'utf8' })

test('there is no TypeScript in it but types, and a map for each module', () => {
  const files = globSync('**/*', { cwd: installed })
  const sources = files.filter(file => /(?<!\.d)\.[cm]?ts$/.test(file))
  assert.deepEqual(sources, [])
  const named = JSON.stringify(manifest.exports).match(/lib\/[^"]+/g) ?? []
  const modules = files.filter(file => /^(lib\/(?!pages\/)|kit\/).*js$/.test(file))
  for (const file of [...modules.map(file => `${file}.map`), ...named])
    assert.ok(files.includes(file), file)
  for (const name of ['graphiql', 'react', 'react-dom', 'swagger-ui-dist'])
    assert.ok(files.includes(`lib/pages/vendor/${name}/LICENSE`), name)
})

test('its manifest asks nothing of those that depend on it', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const key of ['scripts', 'devDependencies', 'overrides', 'optionalDependencies', 'private'])
    assert.ok(!(key in manifest), key)
  assert.deepEqual(
    Object.keys(manifest.exports).sort(),
    [...Object.keys(exports), './package.json'].sort(),
  )
  assert.deepEqual(
    Object.keys(manifest.dependencies).filter(name => /graphiql|react|swagger/.test(name)),
    [],
  )
})

test('every link of its documents leads to a file of it, or to the web', () => {
  const documents = globSync('**/*.md', { cwd: installed }).filter(file => !/vendor/.test(file))
  assert.ok(documents.includes('README.md') && documents.includes('docs/model.md'))
  const links = documents.flatMap(file =>
    [...readFileSync(join(installed, file), 'utf8').matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)].map(
      ([, target = '']) => ({ file, target }),
    ),
  )
  for (const file of documents.filter(file => /^docs|^README/.test(file)))
    assert.ok(
      !readFileSync(join(installed, file), 'utf8').includes('bin/duet'),
      `${file} says bin/duet`,
    )
  const broken = links.filter(
    ({ file, target }) =>
      !/^(https?|mailto):/.test(target) && !existsSync(join(installed, dirname(file), target)),
  )
  assert.ok(links.length > 100)
  assert.deepEqual(broken, [])
})

test('what is not an entry point is closed', () => {
  const { stderr } = run(['--input-type=module', '-e', "await import('duet/lib/cli-program.mjs')"])
  assert.match(stderr, /ERR_PACKAGE_PATH_NOT_EXPORTED/)
})

test('where there is no content the program says where it looked and what to do', () => {
  const { status, stderr } = run([program, 'serve'])
  assert.equal(status, 1)
  assert.equal(
    stderr,
    `duet: there is no duet.config.ts in ${project}: go to the folder of a content, name its file with --config FILE, or make one with duet init\n`,
  )
  assert.match(run([program, '--help']).stdout, /^ {2}serve +serve both APIs$/m)
})

test('a file that is no content is told with its remedy', () => {
  const faults = {
    'empty.ts': /empty\.ts exports no content: let it say export default defineContent/,
    'other.ts': /was not made by defineContent of this Duet.*import it from 'duet'/,
  }
  writeFileSync(join(project, 'empty.ts'), 'export const content = 1\n')
  writeFileSync(join(project, 'other.ts'), 'export default { entities: {} }\n')
  for (const [file, fault] of Object.entries(faults)) {
    const { status, stderr } = run([program, `--config=${file}`, 'serve'])
    assert.equal(status, 1)
    assert.match(stderr, fault)
  }
  assert.match(
    run([program, 'serve', '--config', 'no.ts']).stderr,
    /^duet: there is no file no\.ts/,
  )
  assert.match(run([program, 'serve', '--config']).stderr, /^duet: --config needs a file, such as/)
})

test('a Node that is too old is told how to get another, and hands over to one that is there', () => {
  writeFileSync(join(project, 'old.cjs'), pretend)
  const { status, stderr } = run(['-r', './old.cjs', program, 'serve'])
  assert.equal(status, 1)
  const [, name = ''] =
    /^duet: this needs Node 24\.16 and runs 20\.0\.0: run npm install (node-\S+)@26, /.exec(
      stderr,
    ) ?? []
  const bin = join(project, 'node_modules', name, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, '../package.json'), '{}')
  symlinkSync(process.execPath, join(bin, 'node'))
  assert.match(run(['-r', './old.cjs', program, '--version']).stdout, /^duet \d/)
})

test('the content of the checkout is served outside it, in several threads', async () => {
  const filter = (path: string) => !path.startsWith(join(root, 'content/test'))
  cpSync(join(root, 'content'), join(project, 'elsewhere'), { recursive: true, filter })
  const config = join(project, 'elsewhere/duet.config.ts')
  const settings = { DUET_DATABASE_URL: `sqlite:${join(project, 'data/duet.db')}` }
  const service = await serveBy(program, { ...settings, DUET_THREADS: '2' }, '--config', config)
  const ask = (path: string, accept = '*/*') =>
    fetch(`${service.url}${path}`, { headers: { accept } })
  const rest = versionPath(content.versions.newest)
  assert.equal((await ask(`${rest}/openapi.json`)).status, 200)
  assert.equal(
    await (await ask('/graphql?query={__typename}')).text(),
    '{"data":{"__typename":"Query"}}',
  )
  // GraphiQL and Swagger UI, of the package's own copies, and the guide.
  for (const page of ['/graphql', '/docs', '/docs/guide']) {
    const text = await (await ask(page, 'text/html')).text()
    const assets = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
    assert.ok(assets.length > 3, page)
    for (const path of assets) assert.equal((await ask(path)).status, 200, path)
  }
  assert.equal((await service.end()).code, 0)
})

test('a project that it makes starts from the examples as texts, and answers both APIs', async () => {
  const { status, stderr } = run([program, 'init', 'blog'])
  assert.equal(status, 0, stderr)
  const config = join(project, 'blog/duet.config.ts')
  const { settings } = await freshStore({ bare: true })
  const service = await serveBy(program, settings, '--migrate', '--config', config)
  const posts = await fetch(`${service.url}/api/posts`)
  assert.match(await posts.text(), /^{"data":\[{"id":1,/)
  const query = encodeURIComponent('{ posts { title } }')
  const found = await fetch(`${service.url}/graphql?query=${query}`)
  assert.match(await found.text(), /^{"data":{"posts":\[{"title":/)
  assert.equal((await service.end()).code, 0)
  // Under a Node that is too old it is made too, and brings another.
  assert.equal(run(['-r', './old.cjs', program, 'init', 'other']).status, 0)
  const manifest = JSON.parse(readFileSync(join(project, 'other/package.json'), 'utf8'))
  assert.deepEqual(Object.keys(manifest.optionalDependencies), Object.values(pinned.packages))
  // Its syntax is nowhere newer than that Node reads.
  for (const path of globSync(join(installed, 'lib/{cli,chunk}-*.mjs'))) {
    const text = readFileSync(path, 'utf8')
    const [old, present] = ['node20.19', 'esnext'].map(target => transformSync(text, { target }))
    assert.equal(old?.code, present?.code, path)
  }
})
