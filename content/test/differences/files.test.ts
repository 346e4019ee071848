/** What `npm run contract` says about the files of a contract. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { JsonObject } from '#base/object.ts'
import content from '#content/duet.config.ts'
import { versions } from '#content/versions.ts'
import { diffFiles } from '#kit/contract/contract.ts'
import { diffOpenApi } from '#kit/contract/openapi.ts'
import { openApiOf } from '#openapi/openapi.ts'
import type { Change } from '#test/differences/document.ts'
import { type Files, filesWith, name, page } from '#test/differences/files.ts'

type Checkout = {
  readonly root: string
  readonly files: Files
  readonly today: string
  readonly writes?: boolean
  readonly commit?: string
}

const {
  compareContract,
  documentsOf,
}: {
  readonly compareContract: (checkout: Checkout) => {
    readonly text: string
    readonly isWell: boolean
  }
  readonly documentsOf: (of: typeof content) => Promise<Files>
} = await import(new URL('../../../scripts/contract.mjs', import.meta.url).href)

const temporary = mkdtempSync(join(tmpdir(), 'duet-contract-'))
after(() => rmSync(temporary, { recursive: true, force: true }))

const today = '2026-11-22'
const state = '/components/schemas/Thing/properties/state/enum'
const lent: Change = [state, ['new', 'used', 'sold', 'lent']]

const isGitThere = spawnSync('git', ['--version']).status === 0
const needsGit = { skip: isGitThere ? false : 'NOT TESTED: there is no git' }

/** A checkout with a changelog and the files of a contract; git keeps what is committed there. */
const checkout = (files: Files, changelog = '') => {
  const root = mkdtempSync(join(temporary, 'checkout-'))
  const git = (...args: readonly string[]) => {
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org']
    const { status, stderr } = spawnSync('git', ['-C', root, ...who, ...args], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  }
  const put = (all: Files) => {
    mkdirSync(join(root, 'contract'), { recursive: true })
    for (const [file, text] of Object.entries(all))
      writeFileSync(join(root, 'contract', file), text)
  }
  const unreleased = (text: string) =>
    writeFileSync(
      join(root, 'CHANGELOG.md'),
      `# Changelog\n\n## Unreleased\n\n${text}\n\n## 1.0.0\n\n* \`old\`\n`,
    )
  const commit = (...tags: readonly string[]) => {
    if (!existsSync(join(root, '.git'))) git('init', '-q', '-b', 'main')
    git('add', '-A')
    // Another message makes another commit within the same second.
    git('commit', '-qm', `release ${tags}`, '--allow-empty')
    for (const tag of tags) git('tag', tag)
  }
  put(files)
  unreleased(changelog)
  const compare = (now: Files, writes = false) =>
    compareContract({ root, files: now, today, writes })
  return { root, git, put, unreleased, commit, compare }
}

test('without git the code is compared with the files on disk, which must be what the code writes', () => {
  const { root, compare, put } = checkout(filesWith())
  assert.deepEqual(compare(filesWith()), {
    text: 'contract: 0 breaking, 0 risky, 0 compatible, compared with the files on disk\n',
    isWell: true,
  })
  const fresh: Change = ['/components/schemas/Thing/properties/size', { type: 'integer' }]
  const stale = compare(filesWith(fresh))
  assert.match(
    stale.text,
    /\nContract: contract\/v1\.openapi\.json is not what the code says: run npm run contract -- --write\n/i,
  )
  assert.equal(stale.isWell, false)
  const written = compare(filesWith(fresh), true)
  assert.match(
    written.text,
    /\n {2}member-added: size is new \(callers who read it\)\n {4}GET \/things → 200 → data\[\]\.size\n/,
  )
  assert.equal(written.isWell, true)
  assert.equal(readFileSync(join(root, 'contract', name), 'utf8'), filesWith(fresh)[name])
  put({ 'v0.openapi.json': '{"openapi":"3.1.0"}' })
  assert.equal(compare(filesWith(fresh), true).isWell, false)
  assert.equal(compare(filesWith(fresh)).isWell, true)
})

test('a breaking change is refused, on disk or not', needsGit, () => {
  const { commit, compare, put } = checkout(filesWith())
  commit()
  put(filesWith(page))
  const { text, isWell } = compare(filesWith(page))
  assert.equal(isWell, false)
  assert.match(
    text,
    /^── contract\/v1\.openapi\.json\nbreaking: 2\n {2}parameter-removed: the parameter page is gone \(callers who send it\)\n {4}GET \/things → query page\n {4}POST \/things → query page\n/,
  )
  assert.match(text, /compared with the last commit\n$/)
})

/** Corrections of the page that is gone, at these places. */
const pageCorrected = (
  places: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Files => ({
  'corrections.json': JSON.stringify([
    {
      reason: 'It never had an effect.',
      file: name,
      rule: 'parameter-removed',
      message: 'the parameter page is gone',
      places,
      ...more,
    },
  ]),
})

const places = ['GET /things → query page', 'POST /things → query page']

test('corrections pass the breaking differences that they name, and no others', needsGit, () => {
  const { root, commit, compare, put } = checkout(filesWith())
  commit('v1.0.0')
  put(pageCorrected(places))
  const all = compare(filesWith(page), true)
  assert.equal(all.isWell, true, all.text)
  assert.match(all.text, /\ncontract: 2 passed, as contract\/corrections\.json names them\n/)
  assert.match(all.text, /\ncontract: 0 breaking, /)
  assert.ok(existsSync(join(root, 'contract/corrections.json')))
  put(pageCorrected(places.slice(0, 1)))
  const some = compare(filesWith(page))
  assert.equal(some.isWell, false)
  assert.match(some.text, /parameter-removed: .*\n {4}POST \/things → query page\n/)
  assert.match(some.text, / 1 breaking, /)
})

test('a correction that names no breaking difference is a fault', needsGit, () => {
  const { commit, compare, put } = checkout(filesWith())
  commit('v1.0.0')
  put(filesWith(page))
  for (const [wrong, message] of [
    [
      pageCorrected([...places, 'GET /nothing']),
      /parameter-removed at GET \/nothing of v1\.openapi\.json .* is no breaking difference: take it out/,
    ],
    [pageCorrected(places, { message: 'another' }), /another\) is no breaking difference/],
    [pageCorrected(places, { rule: 'member-removed' }), /member-removed at GET/],
    [pageCorrected(places, { file: 'v9.openapi.json' }), /there is no v9\.openapi\.json/],
  ] as const) {
    put(wrong)
    const { text, isWell } = compare(filesWith(page))
    assert.equal(isWell, false)
    assert.match(text, message)
  }
  // What is compatible needs no correction.
  put({ ...filesWith(), ...pageCorrected(places) })
  assert.match(compare(filesWith()).text, /is no breaking difference/)
})

test(
  'the corrections of a release have done their work: they pass nothing and are no fault',
  needsGit,
  () => {
    const { commit, compare, put } = checkout({ ...filesWith(page), ...pageCorrected(places) })
    commit('v1.0.0')
    assert.deepEqual(compare(filesWith(page)), {
      text: 'contract: 0 breaking, 0 risky, 0 compatible, compared with v1.0.0\n',
      isWell: true,
    })
    put(filesWith())
    commit('v1.1.0')
    put(filesWith(page))
    assert.match(compare(filesWith(page)).text, / 2 breaking, /)
  },
)

test('a file of corrections that is none is told what it lacks', () => {
  for (const [text, message] of [
    ['{', /^Error: contract\/corrections\.json is not JSON: /],
    ['{}', /must be a list of corrections/],
    ['[1]', /entry 1, must be an object/],
    [pageCorrected(places, { reason: '' }), /entry 1, lacks reason, a text/],
    [pageCorrected([]), /entry 1, lacks places, a list of texts/],
    [pageCorrected(places, { why: 'so' }), /entry 1, has why: there are reason, file/],
    [
      pageCorrected([...places, ...places]),
      /names parameter-removed at GET .* twice: leave one out/,
    ],
  ] as const) {
    const { compare, put } = checkout(filesWith())
    put(typeof text === 'string' ? { 'corrections.json': text } : text)
    assert.throws(() => compare(filesWith()), message)
  }
})

test('a commit that is named is what the code is compared with', needsGit, () => {
  const { root, commit, put, compare } = checkout(filesWith())
  commit('first')
  put(filesWith(page))
  commit('v1.0.0')
  assert.match(compare(filesWith(page)).text, / 0 breaking, .* compared with v1\.0\.0\n$/)
  const since = { root, files: filesWith(page), today, commit: 'first' }
  assert.match(compareContract(since).text, / 2 breaking, .* compared with first\n$/)
  assert.throws(
    () => compareContract({ ...since, commit: 'nothing' }),
    /^Error: nothing has no contract/,
  )
})

test('a risky change waits for an item of the unreleased changelog that names the member and what is new', () => {
  const { put, unreleased, compare } = checkout(filesWith(), '* `state` is new.')
  const risky = filesWith(lent)
  const before = compare(risky)
  assert.match(
    before.text,
    /\ncontract: risky: CHANGELOG\.md, Unreleased, needs an item with `state`, `lent`\n/,
  )
  for (const [text, isWell] of [
    ['* `state` is new.\n* `lent` is new.', false],
    ['* state may be lent.', false],
    ['* `states` may be `lent`.', false],
    ['* `estate` may be `lent`.', false],
    ['\n## 0.9.0\n\n* `state` may be `lent`.', false],
    ['* The `thing.state` of a thing\n  may be `lent`.', true],
    ['- `state`: `"lent"`.', true],
  ] as const) {
    const { root, compare } = checkout(filesWith(), text)
    // Against the file as it was, while it is written anew.
    assert.equal(compare(risky, true).isWell, isWell, text)
    assert.equal(readFileSync(join(root, 'contract', name), 'utf8'), risky[name])
  }
  put(risky)
  unreleased('')
  assert.equal(compare(risky).isWell, true)
})

test(
  'the newest release that leads to this commit is what callers have, whatever was committed since',
  needsGit,
  () => {
    const { git, put, commit, compare } = checkout(filesWith(page))
    commit('v1.9.0')
    put(filesWith())
    commit('v1.10.0')
    git('checkout', '-q', '-b', 'aside')
    put(filesWith(page))
    commit('v1.11.0')
    git('checkout', '-q', 'main')
    put(filesWith(page))
    commit('v1.12.0-beta', 'version')
    const { text, isWell } = compare(filesWith(page))
    assert.match(text, /breaking, .*, compared with v1\.10\.0\n$/)
    assert.equal(isWell, false)
    assert.equal(
      compare(filesWith()).text.split('\n').at(-2),
      'contract: 0 breaking, 0 risky, 0 compatible, compared with v1.10.0',
    )
  },
)

test('a release without a contract promises nothing, and the last commit counts', needsGit, () => {
  const { root, put, commit, compare } = checkout({})
  commit('v1.0.0')
  put(filesWith())
  commit()
  assert.match(compare(filesWith()).text, /compared with the last commit\n$/)
  rmSync(join(root, '.git'), { recursive: true })
  assert.match(compare(filesWith()).text, /compared with the files on disk\n$/)
})

test('a version that is no longer written is breaking', () => {
  const { compare } = checkout({ ...filesWith(), 'v2.openapi.json': '{"openapi":"3.1.0"}' })
  const { text, isWell } = compare(filesWith())
  assert.match(text, /document-removed: v2\.openapi\.json is gone/)
  assert.equal(isWell, false)
})

test('the files that this content has are the same each time, small, and equal to themselves', async () => {
  const files = await documentsOf(content)
  assert.deepEqual(Object.keys(files), [
    ...versions.all.map(version => `v${version}.openapi.json`),
    'auth.openapi.json',
    'schema.graphql',
  ])
  assert.deepEqual(await documentsOf(content), files)
  for (const [name, text] of Object.entries(files)) {
    assert.ok(text.length <= 260_000, `${name} has ${text.length} characters`)
    assert.deepEqual(diffFiles({ name, text }, { name, text }, today), [])
  }
})

const { product } = content.entities
assert.ok(product)
const { image, category, ...rest } = product.fields
assert.ok(image && category)

// Its rows have the fields of today.
const { demo: _, ...plain } = content

/** The document of this content with other fields of products, and other filters of their list. */
const documentWith = (fields: typeof rest, filters = product.rest.listing.filters) => {
  const listing = { ...product.rest.listing, ...(filters && { filters }) }
  const changed = { ...product, fields, rest: { ...product.rest, listing } }
  return openApiOf({ ...plain, entities: { ...content.entities, product: changed } }, 1)
}

const classesOf = (before: JsonObject, after: JsonObject, day = today) => [
  ...new Set(diffOpenApi(before, after, day).map(({ class: level, rule }) => `${level} ${rule}`)),
]

test('a field of the content that is added, removed or may be null is just that in the contract', async () => {
  const before = await openApiOf(plain, 1)
  const cases = [
    [
      { ...product.fields, picture: image },
      ['compatible member-added', 'compatible required-member-added', 'compatible value-added'],
    ],
    [{ ...rest, category }, ['breaking member-removed', 'breaking value-removed']],
    [
      { ...product.fields, category: { ...category, nullable: true } },
      ['risky null-added', 'compatible null-added'],
    ],
  ] as const
  for (const [fields, expected] of cases)
    assert.deepEqual(classesOf(before, await documentWith(fields)), expected)
})

test('a field of the content that was announced to go may be removed on its sunset, with its filter and its name in fields', async () => {
  const going = { last: 1, sunset: '2027-08-01', deprecated: 'Use tags.' } as const
  const announced = await documentWith({
    ...product.fields,
    image: { ...image, ...going },
    category: { ...category, ...going },
  })
  assert.deepEqual(classesOf(await openApiOf(plain, 1), announced), [
    'compatible deprecated',
    'compatible sunset-set',
  ])
  const { category: __, ...filters } = product.rest.listing.filters ?? {}
  const gone = await documentWith(rest, filters)
  assert.deepEqual(classesOf(announced, gone, '2027-07-31'), ['breaking removed-before-sunset'])
  assert.deepEqual(classesOf(announced, gone, '2027-08-01'), ['compatible removed-after-sunset'])
})
