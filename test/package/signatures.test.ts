/** Checks the signatures of the package: that the file has those of the code, and what a change of them means to contents. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { machineMigrations } from '#engines/shared/migrations.ts'
import { diffFiles } from '#kit/contract/contract.ts'

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

const { signatures }: { signatures: () => string } = await import(
  new URL('../../scripts/signatures.mjs', import.meta.url).href
)

test('contract/package.d.ts has the signatures of the code', () => {
  assert.equal(read('contract/package.d.ts'), signatures(), 'run npm run docs')
})

test('the first row of docs/upgrading.md is what the code has', () => {
  const row = /^\| ([^-\s|].*?) \| (\d+\.\d+).*? \| `(.*?)` \| (\w+) \|$/m
  const [, release, node, store, number] = row.exec(read('docs/upgrading.md')) ?? []
  const { version } = JSON.parse(read('package.json'))
  assert.ok(release === 'Unreleased' || release === version, `the first row is of ${release}`)
  assert.match(read('scripts/pinned-node.mjs'), new RegExp(`isCheckout \\? '26.0' : '${node}'`))
  for (const engine of ['sqlite', 'postgres'] as const)
    assert.equal(machineMigrations(engine).at(-1)?.name, store)
  assert.match(read('contract/package.d.ts'), new RegExp(`^// Signatures ${number}\n`))
})

const before = `// duet
export { Options, make }

type Options = {
    readonly name: string;
    readonly kind: 'a' | 'b';
};
const make: (options: Options) => void;
`

const changes = {
  'an export that is gone': [['Options, make', 'make'], 'breaking export-removed Options'],
  'a new export': [['Options, make', 'Options, make, remake'], 'compatible export-added remake'],
  'a new member that may be left out': [
    ['    readonly kind', '    readonly size?: number;\n    readonly kind'],
    'compatible signature-wider Options',
  ],
  'a new member that must be given': [
    ['    readonly kind', '    readonly size: number;\n    readonly kind'],
    'risky signature-changed Options',
  ],
  'a member that is gone': [
    ["    readonly kind: 'a' | 'b';\n", ''],
    'risky signature-changed Options',
  ],
  'another parameter': [['(options: Options)', '(name: string)'], 'risky signature-changed make'],
  'the same in another place': [['// duet\n', '// duet\n\n'], ''],
} as const

for (const [what, [[old, now], expected]] of Object.entries(changes))
  test(`${what} is ${expected || 'no difference'}`, () => {
    const name = 'package.d.ts'
    const after = before.replace(old, now)
    assert.notEqual(after, before)
    const found = diffFiles({ name, text: before }, { name, text: after }, '2026-01-01')
    assert.equal(found.map(one => `${one.class} ${one.rule} ${one.names[0]}`).join(), expected)
  })

test('a file without signatures is refused', () => {
  const file = { name: 'a.d.ts', text: 'export type A = 1\n' }
  assert.throws(() => diffFiles(file, file, '2026-01-01'), /^Error: a\.d\.ts has no signatures/)
})
