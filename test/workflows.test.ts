/** Checks that the workflows run what is there, under Nodes that can, and that the templates ask for what a report needs. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { at, parseYaml, type Yaml } from './yaml.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const manifest = JSON.parse(read('package.json'))

type Step = { readonly [key: string]: Yaml }

/** The jobs of a workflow whose steps are its own, each with the values of its matrix. */
const jobsOf = (name: string) =>
  Object.values(at(parseYaml(read(name))[0], 'jobs') as Record<string, Yaml>)
    .filter(job => !Object.hasOwn(job as object, 'uses'))
    .map(job => {
      const matrix = (job as { strategy?: Yaml }).strategy
      return {
        steps: at(job, 'steps') as readonly Step[],
        matrix: (matrix ? at(matrix, 'matrix') : {}) as Readonly<Record<string, readonly string[]>>,
      }
    })

/** A text once for each value of the matrix that it names. */
const meant = (text: string, matrix: Readonly<Record<string, readonly string[]>>) => {
  const [whole, key] = /\$\{\{ matrix\.(\w+) \}\}/.exec(text) ?? []
  if (whole === undefined || key === undefined) return [text]
  return (matrix[key] ?? assert.fail(key)).map(value => text.replace(whole, value))
}

const workflows = globSync('.github/workflows/*', { cwd: root })

test('there are workflows for a check, a night and a release', () => {
  assert.deepEqual(workflows.map(name => name.replace(/^.*[\\/]/, '')).toSorted(), [
    'check.yml',
    'nightly.yml',
    'release.yml',
  ])
})

for (const name of workflows) {
  test(`${name} runs scripts of package.json, and files that are there`, () => {
    const commands = jobsOf(name).flatMap(({ steps, matrix }) =>
      steps.flatMap(({ run }) => (run === undefined ? [] : meant(String(run), matrix))),
    )
    const scripts = commands.flatMap(command =>
      [...command.matchAll(/\bnpm (?:run (\S+)|(test|start)\b)/g)].map(([, one, other]) =>
        String(one ?? other),
      ),
    )
    assert.ok(scripts.length > 0)
    for (const script of scripts) assert.ok(script in manifest.scripts, script)
    for (const command of commands)
      for (const [, path = ''] of command.matchAll(/(?:--file |npm test -- )(\S+)/g))
        assert.ok(existsSync(join(root, path)), path)
  })

  test(`${name} takes Nodes that may install the checkout and run the package`, () => {
    const oldest = Number(/\? '[\d.]+' : '(\d+)/.exec(read('scripts/pinned-node.mjs'))?.[1])
    const engines = Number(/^>=(\d+)$/.exec(manifest.engines.node)?.[1])
    const versions = jobsOf(name).flatMap(({ steps, matrix }) =>
      steps
        .filter(({ uses }) => /^actions\/setup-node@/.test(String(uses)))
        .flatMap(step => meant(String(at(step, 'with', 'node-version')), matrix)),
    )
    assert.ok(versions.length > 0)
    for (const version of versions)
      assert.ok(Number(version) >= engines && Number(version) >= oldest, version)
    const newest = Object.values<string>(manifest.optionalDependencies)[0]?.split('.')[0]
    assert.ok(versions.includes(String(newest)), `none is Node ${newest}, which the checkout pins`)
  })

  test(`${name} takes actions by their major version, and no right that it does not name`, () => {
    const used = jobsOf(name).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []))
    for (const action of used) assert.match(String(action), /^[\w-]+\/[\w-]+@v\d+$/)
    assert.deepEqual(at(parseYaml(read(name))[0], 'permissions'), { contents: 'read' })
  })
}

test('a bug is asked for versions, the engine, a model and what duet explain says', () => {
  const fields = at(parseYaml(read('.github/ISSUE_TEMPLATE/bug.yml'))[0], 'body') as readonly Step[]
  const needed = fields
    .filter(field => field.validations && at(field, 'validations', 'required') === 'true')
    .map(field => field.id)
  assert.deepEqual(needed, ['found', 'versions', 'engine', 'model', 'explain'])
})

test('the template of pull requests has five lines', () => {
  assert.equal(read('.github/pull_request_template.md').trimEnd().split('\n').length, 5)
})
