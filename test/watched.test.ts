/** Checks that the dashboard and the alarms in deploy/ ask for what the service tells, and that the docs say what to do. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parser } from '@prometheus-io/lezer-promql'
import { loadConfig } from '#config.ts'
import { createMetrics } from '#metrics/metrics.ts'
import { serveMetrics } from '#serve/metrics.ts'
import { namesIn } from './support/prometheus.ts'
import { createWorld } from './world.ts'
import { at, parseYaml, type Yaml } from './yaml.ts'

const read = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8')

const world = await createWorld({ on: 'sqlite' })
const metrics = createMetrics('sqlite', '0')
// With the figures of both engines.
const figures = { ...world.engine.figures, replicaLags: () => new Map([['a', 0]]) }
const looked = { engine: { ...world.engine, figures }, edge: world.edge }
const server = await serveMetrics(metrics, loadConfig({ DUET_METRICS_PORT: '0' }), looked)
const text = await (await fetch(server.url)).text()
after(async () => {
  server.close()
  metrics.close()
  await world.close()
})

/** What the service has, with what Prometheus adds. */
const known = new Set([...namesIn(text), 'up'])

/** The parts of an expression that are of a kind; with the kind of errors it must have none. */
const partsOf = (
  expression: string,
  tree: ReturnType<typeof parser.parse>,
  kind: string,
): readonly string[] => {
  const found: string[] = []
  tree.iterate({
    enter: ({ name, type, from, to }) => {
      if (name === kind || (kind === 'error' && type.isError))
        found.push(expression.slice(from, to))
    },
  })
  return found
}

/** Fails where an expression cannot be parsed, or names a metric or a label that is not there. */
const checkExpression = (given: string) => {
  const expression = given.replaceAll('$__rate_interval', '5m')
  const tree = parser.parse(expression)
  assert.deepEqual(partsOf(expression, tree, 'error'), [], `cannot be parsed: ${given}`)
  const names = partsOf(expression, tree, 'Identifier')
  assert.ok(names.length > 0, given)
  for (const name of names) assert.ok(known.has(name), `there is no metric ${name}: ${given}`)
  for (const label of partsOf(expression, tree, 'LabelName'))
    assert.ok(labels.has(label), `no metric has the label ${label}: ${given}`)
}

const labels = new Set([
  ...readLabels('src/metrics/metrics.ts'),
  ...readLabels('src/serve/metrics.ts'),
  // Of Prometheus itself.
  ...['job', 'instance', 'le'],
])

/** The labels that a source gives its metrics. */
function readLabels(file: string): readonly string[] {
  const lists = [...read(file).matchAll(/labels?: (?:\[([^\]]+)\]|('[\w]+'))/g)]
  const counters = [...read(file).matchAll(/counter\(\s*'[^']+',\s*'[^']+',([^)]*)\)/g)]
  return [...lists, ...counters].flatMap(found =>
    [
      ...found
        .slice(1)
        .join()
        .matchAll(/'(\w+)'/g),
    ].map(([, name = '']) => name),
  )
}

type Panel = { readonly title: string; readonly targets: readonly { readonly expr: string }[] }
const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(
  read('deploy/grafana-dashboard.json'),
)

for (const { title, targets } of dashboard.panels)
  test(`the panel ${title} asks for what there is`, () => {
    for (const { expr } of targets) checkExpression(expr)
  })

test('every metric of the service, but those of Node and of its version, is in the dashboard', () => {
  const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join()
  const own = [...text.matchAll(/^# TYPE ((?:duet|http|db)_\S+) /gm)].map(([, name = '']) => name)
  assert.ok(own.length > 15)
  for (const name of own) assert.ok(name === 'duet_build_info' || shown.includes(name), name)
})

const rules = at(parseYaml(read('deploy/prometheus-alerts.yaml'))[0] as Yaml, 'groups', 0, 'rules')
const alarms = (rules as readonly Yaml[]).map(rule => ({
  name: String(at(rule, 'alert')),
  expression: String(at(rule, 'expr')),
}))

test('there are five alarms, and the docs say what to do for each', () => {
  assert.equal(alarms.length, 5)
  const docs = read('docs/operations.md')
  for (const { name } of alarms) assert.ok(docs.includes(`\`${name}\``), name)
})

for (const { name, expression } of alarms)
  test(`the alarm ${name} asks for what there is`, () => checkExpression(expression))

test('an expression that cannot be parsed, or names what there is not, is refused', () => {
  for (const wrong of ['sum(rate(duet_queue_requests[5m])', 'duet_nothing', 'up{nobody="x"}'])
    assert.throws(() => checkExpression(wrong))
})

test('every metric is in the docs', () => {
  const docs = read('docs/operations.md')
  for (const [, name = ''] of text.matchAll(/^# TYPE ((?:duet|http|db)_\S+) /gm))
    assert.ok(docs.includes(`\`${name}\``), name)
})
