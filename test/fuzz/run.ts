/** Sends generated requests to a service in this process, and holds each answer against what describes it. */
import { test } from 'node:test'
import fc from 'fast-check'
import { restPath } from '#base/paths.ts'
import { randomFrom } from '#base/random.ts'
import { machineErrors, mergeErrors } from '#errors.ts'
import { deriveSchema } from '#graphql/schema.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { type Subject, subjects } from '../generic/contents.ts'
import { type Draw, drawing } from '../operations.ts'
import { filled } from '../support/filled.ts'
import { usualSeed } from '../support/rounds.ts'
import { type Answered, modelAsUsual, type World } from '../world.ts'
import { dataFault, graphqlRequests } from './graphql.ts'
import { type Asked, type Known, restRequests } from './rest.ts'
import { fuzzBy } from './values.ts'

/** A stream of whole numbers that a seed makes again. */
function* numbersFrom(seed: number): Generator<number> {
  const random = randomFrom(seed)
  for (;;) yield (random() * 2 ** 32) % 1_000_000
}

/** Users are suspended and deleted by what is sent, and lists grow, so another store begins after so many requests. */
const perWorld = 500

const statusesOfGraphql = [
  200, 400, 401, 403, 404, 405, 406, 409, 412, 413, 414, 415, 422, 429, 431,
]

type Judged = { readonly asked: Asked; readonly answer: Answered }

const judgeGraphql =
  (codes: ReadonlySet<string>, schema: ReturnType<typeof deriveSchema>['schema']) =>
  ({ asked, answer }: Judged): string | undefined => {
    const { status, json } = answer
    if (!statusesOfGraphql.includes(status)) return `the status ${status}`
    if (json === undefined) return 'no JSON'
    const strange = Object.keys(json).find(key => !['data', 'errors', 'extensions'].includes(key))
    if (strange !== undefined) return `the member ${strange}`
    const { errors } = json
    if (errors !== undefined) {
      if (!Array.isArray(errors) || errors.length === 0) return 'errors without an error'
      return errors
        .filter(
          ({ message, extensions }) => typeof message !== 'string' || !codes.has(extensions?.code),
        )
        .map(error => `the error ${JSON.stringify(error)}`)[0]
    }
    const sent = sentIn(asked)
    return sent && dataFault(schema, sent.query, sent.operationName, json.data)
  }

/** The operation of a request that was answered with data. */
const sentIn = ({ line, asking }: Asked): { query: string; operationName?: string } | undefined => {
  if (line.startsWith('GET'))
    return { query: new URLSearchParams(line.split('?')[1]).get('query') ?? '' }
  return typeof asking.raw === 'string' ? JSON.parse(asking.raw.replace(/^\ufeff/, '')) : undefined
}

/** What the documents do not say by themselves of an answer of the REST API; `world.ask` has held it against them. */
const judgeRest = ({ answer: { status, headers } }: Judged): string | undefined => {
  if (status >= 500) return `the status ${status}`
  return headers.get('x-request-id') === null ? 'no request id' : undefined
}

const remember = ({ tags, cursors, ids }: Known, { headers, json }: Answered): void => {
  const tag = headers.get('etag')
  if (tag !== null) tags.push(tag)
  const cursor = json?.nextCursor ?? json?.pagination?.nextCursor
  if (typeof cursor === 'string') cursors.push(cursor)
  const id = /(\d+)$/.exec(headers.get('location') ?? '')?.[1]
  if (id !== undefined) ids.push(id)
  for (const list of [tags, cursors, ids]) if (list.length > 20) list.shift()
}

/** Makes requests to a content and judges what it answers. */
const fuzzOf = async ({ content }: Subject) => {
  const model = modelAsUsual(content)
  const { schema } = deriveSchema(model)
  const admin = content.viewers.roles.superuser
  const codes = new Set(mergeErrors(machineErrors, content.errors).keys())
  const rest = await Promise.all(
    content.versions.all.map(async version =>
      restRequests(await openApiOf(content, version, model), version, admin),
    ),
  )
  const graphql = graphqlRequests(schema, admin)
  const judge = judgeGraphql(codes, schema)
  const draw = (known: Known, drawn: Draw): Asked =>
    drawn.chance(30) ? graphql(fuzzBy(drawn)) : drawn.of(...rest)(fuzzBy(drawn), known)
  const faultOf = (judged: Judged) =>
    judged.asked.line.includes(` ${restPath}`) ? judgeRest(judged) : judge(judged)
  return { draw, faultOf }
}

const told = ({ line, asking }: Asked): string =>
  `${line} ${JSON.stringify(asking, (_, value) => (value instanceof Uint8Array ? `hex ${Buffer.from(value).toString('hex')}` : value))}`

/** Sends so many requests to a world of its own; throws at the first answer that should not be. */
const rounds = async (
  { draw, faultOf }: Awaited<ReturnType<typeof fuzzOf>>,
  world: World,
  requests: number,
  drawn: Draw,
  count: (status: number) => void,
) => {
  const known: Known = { tags: [], cursors: [], ids: [] }
  for (let n = 0; n < requests; n++) {
    const asked = draw(known, drawn)
    const answer = await world.ask(asked.line, asked.asking).catch(error => {
      throw new Error(`${told(asked)}\n${error.stack}`)
    })
    const fault = faultOf({ asked, answer })
    const bug = world.events.find(({ kind }) => kind === 'bug' || kind === 'problem')
    if (fault !== undefined || bug !== undefined)
      throw new Error(`${told(asked)}\n${fault}: ${answer.text}\n${bugText(bug)}`)
    world.events.length = 0
    count(answer.status)
    remember(known, answer)
  }
}

/** Sends so many requests and counts the answers by status. */
const fuzz = async (subject: Subject, seed: number, requests: number) => {
  const fuzzing = await fuzzOf(subject)
  const statuses = new Map<number, number>()
  const count = (status: number) => void statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const drawn = drawing(fc.stream(numbersFrom(seed)))
  for (let left = requests; left > 0; left -= perWorld) {
    const { world } = await filled(subject, { engine: { sync: 'normal' } })
    await rounds(fuzzing, world, Math.min(left, perWorld), drawn, count).finally(world.close)
  }
  return statuses
}

const bugText = (bug: World['events'][number] | undefined): string =>
  bug?.kind === 'bug' && bug.error instanceof Error
    ? `${bug.error.stack}`
    : JSON.stringify(bug ?? '')

/** A test for each content that so many generated requests get no answer that should not be; DUET_SEED makes the same ones again. */
export const fuzzed = (usual: number): void => {
  const seed = usualSeed(7)
  const requests = Number(process.env.DUET_TEST_RUNS ?? usual)
  for (const subject of subjects)
    test(`${requests} requests out of the documents and the schema of ${subject.name} get no answer that these do not allow [G21]`, async t => {
      t.diagnostic(`DUET_SEED=${seed}`)
      const statuses = [...(await fuzz(subject, seed, requests))].sort()
      t.diagnostic(statuses.map(([status, count]) => `${count} times ${status}`).join(', '))
    })
}
