/** Checks that the documents agree with the code, and that their links lead somewhere. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(root, name), 'utf8')

const { parts, renewed }: { parts: object; renewed: (name: string) => Promise<string> } =
  await import(new URL('../scripts/docs.mjs', import.meta.url).href)

type Threats = {
  readonly numbered: (text: string) => readonly unknown[]
  readonly faultsOf: (text: string, tests: ReadonlyMap<string, unknown>) => readonly string[]
}
const { faultsOf, numbered }: Threats = await import(
  new URL('../scripts/threats.mjs', import.meta.url).href
)

const documents = globSync(
  ['*.md', '{content,docs,decisions,bench,test}/*.md', 'kit/contract/*.md'],
  { cwd: root },
)

for (const name of Object.keys(parts))
  test(`the tables of ${name} are what the code says`, async () => {
    assert.equal(read(name), await renewed(name), 'run npm run docs, and read what it changed')
  })

test('a test of a threat is found by the end of its title', () => {
  const text = [
    "for (const n of ['a', 'b']) test(`$",
    "{f({ n })} pays [A1, B2]`)\ntest('it is [A]')",
  ].join('')
  assert.deepEqual(numbered(text), [{ title: '… pays', threats: ['A1', 'B2'] }])
})

test('a threat without a test is a fault, and so is a test of no threat, a gap, a line of another form', () => {
  const faults = (text: string, ...numbers: readonly string[]) =>
    faultsOf(text, new Map(numbers.map(number => [number, [{ file: 'a.test.ts', title: 'a' }]])))
      .length
  const text = '* **A1** A threat\n* **A2** [Another](../a.test.ts). In part: it is.'
  assert.equal(faults(text, 'A1', 'A2'), 0)
  assert.equal(faults(text, 'A1'), 1)
  assert.equal(faults(text, 'A1', 'A2', 'A3'), 1)
  assert.equal(faults(text.replace('A2', 'A3'), 'A1', 'A3'), 1)
  assert.equal(faults(`${text}\n* A threat`, 'A1', 'A2'), 1)
})

test('the README gives the two commands, each in a block of its own', () => {
  for (const command of ['npm ci && npm start', 'npm ci && npm test'])
    assert.ok(read('README.md').includes(`\n\`\`\`sh\n${command}\n\`\`\`\n`), command)
})

test('all documents together are at most 50,000 words, and those to a service of one’s own 6,000', () => {
  const names = globSync(
    [
      ...['*.md', '.github/*.md', 'src/pages/assets/*.html'],
      '{admin,content,deploy,docs,examples,kit,scripts,src,test}/**/*.md',
    ],
    { cwd: root, exclude: ['**/node_modules'] },
  )
  const counts = names.map(name => ({
    name,
    words: read(name)
      .replace(/<[^>]*>/g, name.endsWith('.html') ? '' : '$&')
      .trim()
      .split(/\s+/).length,
  }))
  const all = counts.reduce((sum, { words }) => sum + words, 0)
  const largest = counts.toSorted((one, other) => other.words - one.words).slice(0, 5)
  const told = largest.map(({ name, words }) => `${name} ${words}`).join(', ')
  assert.ok(all > 10_000 && all <= 50_000, `${all} words; the longest: ${told}`)

  const first = ['README.md', 'docs/tutorial.md', 'docs/model.md']
  const path = counts.filter(({ name }) => first.includes(name.replaceAll('\\', '/')))
  const walked = path.reduce((sum, { words }) => sum + words, 0)
  assert.ok(path.length === 3 && walked <= 6000, `a stranger reads ${walked} words: ${first}`)
})

/** Documents for authors of projects; the others are for those who have the checkout, and the package says it their way. */
const ofProjects = ['package', 'tutorial', 'testing', 'routes', 'mail', 'upgrading']

test('documents of projects say npx duet, and those of the checkout bin/duet', () => {
  for (const name of globSync('docs/*.md', { cwd: root })) {
    // It goes from the checkout to a project.
    if (name === join('docs', 'auth.md')) continue
    const isOfProjects = ofProjects.some(page => name === join('docs', `${page}.md`))
    const wrong = isOfProjects ? 'bin/duet' : 'npx duet'
    const at = read(name)
      .split('\n')
      .findIndex(line => line.includes(wrong))
    assert.equal(at, -1, `${name}:${at + 1} says ${wrong}`)
  }
  assert.ok(!read('examples/project/README.md').includes('bin/duet'))
})

/** The anchors that a document's headings make. */
const anchorsOf = (name: string): ReadonlySet<string> =>
  new Set(
    [...read(name).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

const linksOf = (name: string): readonly string[] =>
  [...read(name).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)

for (const name of documents)
  test(`every relative link of ${name} leads somewhere`, () => {
    for (const link of linksOf(name)) {
      if (/^[a-z]+:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? name : join(dirname(name), path)
      // Another content may be in the place of this one, and with it other folders.
      if (target.startsWith('content/') && !existsSync(join(root, dirname(target)))) continue
      assert.ok(existsSync(join(root, target)), `${name} links to ${link}`)
      if (anchor !== undefined && target.endsWith('.md'))
        assert.ok(anchorsOf(target).has(anchor), `${name} links to ${link}`)
    }
  })
