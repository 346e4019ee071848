/** `duet init`: makes the folder of a new content, from one of the examples. It runs under older Nodes too, which a project brings its own for. */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { own } from '#base/object.ts'
import { readArgs, UsageError, unknownWord } from '#cli/arguments.ts'
import { version } from '#config.ts'

/** What the README of a project says of an example, and requests that it answers. */
type Example = {
  readonly about: string
  readonly rest: string
  readonly graphql: string
  /** How a token is made, where the content has viewers. */
  readonly token?: string
  /** The role of those whom sign-in makes the first of, where the content has people. */
  readonly first?: string
  /** Whether an identity provider makes the tokens. */
  readonly isSignedElsewhere?: boolean
}

const examples: Readonly<Record<string, Example>> = {
  blog: {
    about: 'A blog: authors write posts with tags, and comment on them.',
    rest: '/posts?sort=-createdAt',
    graphql: '{ posts { title author { name } tags { name } } }',
    token: '--author 2',
    first: 'editor',
  },
  shop: {
    about: 'A shop: products with a stock, and the orders of customers.',
    rest: '/products',
    graphql: '{ products { name price stock } }',
    token: '--customer 1',
    first: 'keeper',
  },
  recipes: {
    about: 'Recipes with ingredients, tags and reviews, for cooks that an identity provider knows.',
    rest: '/recipes',
    graphql: '{ recipes { title cook { name } } }',
    token: `--subject ada --claims '{"name":"Ada"}'`,
    isSignedElsewhere: true,
  },
  empty: {
    about: 'One entity, a note, to begin with.',
    rest: '/notes',
    graphql: '{ notes { text } }',
  },
}

/** The ways to run a project elsewhere, with the files of each beside its Dockerfile. */
const deployments: Readonly<Record<string, (name: string) => Readonly<Record<string, string>>>> = {
  docker: () => ({}),
  compose: () => ({ 'compose.yaml': 'compose.yaml' }),
  systemd: name => ({ 'service.unit': `deploy/${name}.service` }),
  fly: () => ({ 'fly.toml': 'fly.toml' }),
  kubernetes: () => ({ 'kubernetes.yaml': 'deploy/kubernetes.yaml' }),
}
const ways = Object.keys(deployments).join(' | ')

export const help = `Usage: duet init NAME [--example ${Object.keys(examples).join(' | ')}]
                      [--deploy ${ways}]

Makes the folder NAME, or at that path, with the content of an example, blog unless one is given, and all
that a project needs: package.json, settings, migrations for SQLite and PostgreSQL, a
Dockerfile and a README. The folder must be new or empty. --deploy adds the files for where it will
run, also to a project that there is; in a terminal it is asked.`

/** Settings by which a service takes little memory, unless its operator sets others. */
const memory = {
  MALLOC_ARENA_MAX: 2,
  MALLOC_MMAP_THRESHOLD_: 131_072,
  MALLOC_TRIM_THRESHOLD_: 131_072,
} as const

/** A signal to npm is one to the program behind it, and not to a shell between them. Windows has no `exec`. */
const execute = process.platform === 'win32' ? '' : 'exec '

/** What `npm start` runs, as in Duet's own checkout. Windows has neither `env` nor these settings. */
const start =
  process.platform === 'win32'
    ? 'duet serve'
    : [
        `${execute}env`,
        ...Object.entries(memory).map(([name, usual]) => `${name}=\${${name}:-${usual}}`),
        'NODE_OPTIONS="--max-semi-space-size=16 $NODE_OPTIONS" duet serve',
      ].join(' ')

const exampleFolder = fileURLToPath(new URL('../examples/', import.meta.url))
const packageFolder = fileURLToPath(new URL('../', import.meta.url))

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

/** Where the package that this is came from: a tarball or a folder by its path, else its version. */
const sourceOf = (): { readonly file?: string; readonly range: string } => {
  const { name } = readJson(join(packageFolder, 'package.json'))
  const [modules] = /^.*[\\/]node_modules(?=[\\/])/.exec(packageFolder) ?? []
  if (modules === undefined) return { file: packageFolder, range: '' }
  const root = dirname(modules)
  const manifest = join(root, 'package.json')
  const { dependencies = {}, devDependencies = {} } = existsSync(manifest) ? readJson(manifest) : {}
  const all: Readonly<Record<string, string>> = { ...devDependencies, ...dependencies }
  const asked = all[basename(packageFolder)] ?? all[name] ?? ''
  if (asked.startsWith('file:'))
    return { file: resolve(root, asked.slice('file:'.length)), range: '' }
  return { range: name === 'duet' ? `^${version}` : `npm:${name}@^${version}` }
}

/** The folder as a path from another one, as npm writes it. */
const pathFrom = (from: string, to: string): string => {
  const path = relative(from, to)
  return isAbsolute(path) || path.startsWith('.') ? path : `./${path}`
}

const checkFolder = (folder: string): void => {
  const name = basename(folder)
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name) || name === 'node_modules')
    throw new UsageError(
      `${JSON.stringify(name)} cannot name a project: use small letters, digits, - and _, such as my-blog`,
    )
  if (name === 'duet')
    throw new UsageError('npm installs no duet in a project called duet: give it another name')
  const found = existsSync(folder) ? readdirSync(folder) : []
  if (found.length > 0)
    throw new UsageError(
      `the folder ${folder} is not empty, it has ${found[0]}: name a new one, or empty it first`,
    )
}

/** The texts with their words in; a word that is none is empty. */
const filledWith = (words: Readonly<Record<string, string>>, text: string): string =>
  text.replace(/\{\{(\w+)\}\}/g, (_, word) => words[word] ?? '')

/** Asks in a terminal where the project will run; undefined for somebody who decides later, and where nobody types. */
const askedWay = async (): Promise<string | undefined> => {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
  const { createInterface } = await import('node:readline/promises')
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  const typed = (await asking.question(`Where will it run? ${ways}, or Enter for later: `)).trim()
  asking.close()
  return typed === '' ? undefined : typed
}

/** Writes the files of a way to run the project in a folder; throws for one that is there. Gives their names. */
const writeDeployment = (way: string, target: string): readonly string[] => {
  const name = basename(target)
  // What clusters and clouds take as a name.
  const label = name.replace(/[._]+/g, '-').replace(/-+$/, '')
  const files = Object.entries(own(deployments, way)?.(name) ?? {})
  for (const [, to] of files)
    if (existsSync(join(target, to)))
      throw new UsageError(`${join(target, to)} is there: remove it first, or leave out --deploy`)
  for (const [from, to] of files) {
    const text = readFileSync(join(exampleFolder, 'deploy', way, from), 'utf8')
    mkdirSync(dirname(join(target, to)), { recursive: true })
    writeFileSync(join(target, to), filledWith({ name, label }, text))
  }
  return files.map(([, to]) => to)
}

export const run = async (args: readonly string[]): Promise<void> => {
  const given = { example: { type: 'string' }, deploy: { type: 'string' } } as const
  const { values, positionals } = readArgs(args, given, 1)
  const [path] = positionals
  if (path === undefined) throw new UsageError('name the project, such as duet init my-blog')
  const chosen = values.example ?? 'blog'
  const example = own(examples, chosen)
  if (!example) throw unknownWord('example', chosen, Object.keys(examples))
  const target = resolve(path)
  const name = basename(target)
  const checkWay = (way: string): string => {
    if (!own(deployments, way)) throw unknownWord('deployment', way, Object.keys(deployments))
    return way
  }
  const asked = values.deploy === undefined ? undefined : checkWay(values.deploy)
  if (asked !== undefined && existsSync(join(target, 'duet.config.ts'))) {
    const files = writeDeployment(asked, target)
    const made = files.length === 0 ? 'Dockerfile is what it needs' : `made ${files.join(', ')}`
    return void process.stdout.write(`${made}; its first lines say what to type.\n`)
  }
  checkFolder(target)
  const typed = asked ?? (await askedWay())
  const way = typed === undefined ? undefined : checkWay(typed)
  cpSync(join(exampleFolder, chosen), target, { recursive: true })
  // A package has no TypeScript that could be run below node_modules: its examples are texts.
  for (const file of readdirSync(target, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.ts.txt'))
      renameSync(join(target, file), join(target, file.slice(0, -'.txt'.length)))
  for (const part of ['entities', 'actions']) mkdirSync(join(target, part), { recursive: true })

  // A tarball goes along, so that a clone and a container find it.
  const { file, range } = sourceOf()
  let from = range
  if (file?.endsWith('.tgz')) {
    mkdirSync(join(target, 'vendor'))
    copyFileSync(file, join(target, 'vendor', basename(file)))
    from = `file:vendor/${basename(file)}`
  } else if (file !== undefined) from = `file:${pathFrom(target, file)}`

  const { packages, recentEnough, oldest } = await import(
    new URL('../scripts/pinned-node.mjs', import.meta.url).href
  )
  const nodes = Object.values<string>(packages).map(node => [node, '26'])
  // A Node of npm's, as in a checkout, is not the one that a shell in the project finds. npm takes that of its platform.
  const brings = !recentEnough() || process.execPath.split(sep).includes('node_modules')
  const manifest = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: { start, dev: `${execute}duet dev`, test: 'duet check' },
    dependencies: { duet: from },
    devDependencies: { '@types/node': '26' },
    ...(brings ? { optionalDependencies: Object.fromEntries(nodes) } : {}),
    engines: { node: brings ? '>=20' : `>=${oldest}` },
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)

  const { token, first, isSignedElsewhere } = example
  const words: Readonly<Record<string, string>> = {
    ...{ name, about: example.about, rest: example.rest },
    graphql: JSON.stringify({ query: example.graphql }),
    signing:
      token === undefined
        ? ''
        : ` A token for somebody: \`npx duet token ${token}\`, to be sent as \`Authorization: Bearer …\`.`,
    people:
      first === undefined
        ? ''
        : `\n\nPeople sign in at \`/signin\`: open the link that the start prints, and you are the first ${first}. Others get in once they have a row: make it in \`/admin\`, or by \`npx duet people add --email them@example.org\`. Their codes are shown in the terminal.`,
    peopleServed:
      first === undefined
        ? ''
        : ` For people to sign in it needs \`DUET_PEOPLE_SECRET\`, \`DUET_PUBLIC_URL\` and a mail server too; then \`npx duet people add --email you@example.org --role ${first}\` prints a link for the first ${first} (\`auth.md\` of Duet's documents).`,
    parties: isSignedElsewhere ? '' : '#',
    vendor: from.startsWith('file:vendor/') ? 'COPY vendor vendor\n' : '',
  }
  const named: Readonly<Record<string, string>> = {
    gitignore: '.gitignore',
    dockerignore: '.dockerignore',
    'env.example': '.env.example',
  }
  for (const part of readdirSync(join(exampleFolder, 'project'))) {
    const text = readFileSync(join(exampleFolder, 'project', part), 'utf8')
    writeFileSync(join(target, named[part] ?? part), filledWith(words, text))
  }
  // Without its two names no token of an identity provider counts, and nothing starts.
  if (isSignedElsewhere) {
    copyFileSync(join(target, '.env.example'), join(target, '.env'))
    chmodSync(join(target, '.env'), 0o600)
  }
  const files = way === undefined ? [] : writeDeployment(way, target)
  const said = files.length === 0 ? '' : `, with ${files.join(', ')}`
  process.stdout.write(`made ${path} from the example ${chosen}${said}. Next:

  cd ${path}
  npm install
  npm start      # serve it
  npm test       # check it
  npm run dev    # serve it while you change it
`)
}
