/** Generated requests, sent in version 1 to one service and in version 2 to its twin: by the declaration they say the same. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { OpenStore } from '#content.ts'
import { bodyIfAny } from '#kit/check/bodies.ts'
import { callersOf } from '#kit/check/callers.ts'
import { filtersIn, sortsOf } from '#kit/check/declared.ts'
import { memberName, rowsOf, written } from '#kit/check/reference.ts'
import { fillWith } from '#kit/check/rows.ts'
import type { Filter } from '#model/entity.ts'
import type { Field } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import type { Viewer } from '#model/policy.ts'
import { parseId } from '#model/values.ts'
import { isIn } from '#model/version.ts'
import type { Route } from '#rest/routes.ts'
import { type Subject, subjects } from '../generic/contents.ts'
import { asOf, type Filled, filled } from '../support/filled.ts'
import { usualSeed } from '../support/rounds.ts'
import { type Answered, modelAsUsual } from '../world.ts'
import { drawn } from './compare.ts'
import {
  type Asked,
  former,
  headersOf,
  isCommon,
  keyOf,
  type Members,
  namesOf,
  odd,
  olderAnswer,
  ownAnswer,
  type Pair,
  type Source,
} from './version-forms.ts'

const numbers = ['1', '2', '3', '5', '100', '101', '0', '-1', '', 'abc', '1.5'] as const
const strays = ['', 'x', '1', '30', 'true', '-1', '2026-01-01T00:00:00.000Z'] as const

/** A text for a filter, as each version writes it. */
const filterText = ({ draw, reference }: Source, entity: string, filter: Filter, field: Field) => {
  const hasWords = typeof field.until[1]?.form === 'object'
  if (draw.chance(25)) return draw.of<Pair>(...(hasWords ? ['', 'none'] : strays).map(twice))
  const value = draw.of(...reference.rowsIn(entity))?.[filter.field] ?? 'none'
  return [String(written(field, value, 1)), String(value)] as const
}
const twice = (text: string): Pair => [text, text]

const inQuery = (parameters: readonly (readonly [name: Pair, value: Pair])[]): Pair =>
  [0, 1].map(at =>
    new URLSearchParams(parameters.map(([name, value]) => [name[at], value[at]]) as []).toString(),
  ) as unknown as Pair

/** Whether the newer version takes the text of a filter for none of the words that it has, or for no id. */
const isNoWord = ({ scalar, values }: Field, { kind }: Filter, text: string): boolean => {
  if (kind === 'above zero') return !['', 'true', 'false'].includes(text)
  if (kind !== 'equals' || text === '') return false
  if (scalar === 'id') return parseId(text) === undefined
  return values !== undefined && !values.includes(text)
}

/** The parameters of a list: filters, an order, members and a page. */
const listParameters = (source: Source, route: Route, path: string) => {
  const { draw, model, cursors } = source
  const { of, chance } = draw
  const entity = entityOf(model, route.entity)
  const { listing, selectable } = entity.rest
  const found: (readonly [Pair, Pair])[] = []
  const newer = filtersIn(entity, 2)
  let isRefused = false
  for (const [name, filter] of filtersIn(entity, 1)) {
    const same = newer.find(([, { kind, field }]) => kind === filter.kind && field === filter.field)
    const field = entity.fields[filter.field]
    if (!same || !field || !chance(25)) continue
    const texts = filterText(source, route.entity, filter, field)
    found.push([[name, same[0]], texts])
    if (isNoWord(field, filter, texts[1])) isRefused = true
  }
  const sorts = sortsOf(entity, 2).flatMap(({ query, signed }) => {
    const first = sortsOf(entity, 1).find(other => other.signed === signed)
    return first ? [[new URLSearchParams(first.query), new URLSearchParams(query)] as const] : []
  })
  const isUnknown = chance(8)
  if (isUnknown && listing.sort) found.push([twice('sort'), twice('unheardOf')])
  else if (sorts.length > 0 && chance(60)) {
    const [first, second] = of(...sorts)
    for (const [name, value] of second) found.push([twice(name), [first.get(name) ?? '', value]])
  }
  if (selectable && chance(25)) {
    const all = Object.entries(entity.fields).filter(([, f]) => f.rest && isCommon(f) && chance(50))
    const chosen = all.map(
      ([key, field]) => [memberName(key, field, 1) ?? '', memberName(key, field, 2) ?? ''] as const,
    )
    const text = (at: 0 | 1) => chosen.map(names => names[at]).join()
    found.push([twice('fields'), [text(0), text(1)]])
  }
  if (chance(50)) found.push([twice('limit'), twice(of(...numbers))])
  if (listing.paging !== 'cursor' && chance(30)) found.push([twice('page'), twice(of(...numbers))])
  const cursor = cursors.get(path)
  // A cursor of one version holds in the other.
  if (cursor && chance(60)) found.push([twice('cursor'), [cursor[1], cursor[0]]])
  const isLost = chance(5)
  if (isLost) found.push([twice('unheardOf'), twice('1')])
  const isSigned = listing.sort?.style === 'signed list'
  return { found, isStrict: isLost || isRefused || (isUnknown && isSigned) }
}

/** A body in both versions, now and then with a member that is wrong, missing or unknown. */
const bodies = (source: Source, route: Route, viewer: Viewer): readonly [Members, Members] => {
  const { draw, model, reference } = source
  const { of, chance } = draw
  const { fields } = entityOf(model, route.entity)
  const mode = route.kind as 'create' | 'replace' | 'update'
  const given = route.below ? { [route.below.field]: 1 } : {}
  const purpose = { model, entity: route.entity, mode, viewer, given, reference }
  const whole =
    bodyIfAny({ ...purpose, version: 2, n: source.n++ }) ??
    assert.fail(`no body is left for ${purpose.entity}`)
  const own = Object.entries(whole).filter(([member]) => isCommon(fields[keyOf(fields, member)]))
  const kept = own.filter(() => mode !== 'update' || chance(60))
  const body: Record<string, unknown> = Object.fromEntries(kept)
  const shared = Object.entries(fields).flatMap(([key, field]) =>
    isCommon(field) ? [memberName(key, field, 2) ?? key] : [],
  )
  if (chance(25)) body[of('unheardOf', ...shared)] = of<unknown>(...odd)
  if (chance(5)) delete body[of(...shared)]
  const names = namesOf(model, route.entity)
  const older = Object.entries(body).map(([member, value]) => [
    names.get(member) ?? member,
    former(fields[keyOf(fields, member)], value),
  ])
  return [Object.fromEntries(older), body]
}

const draws = (source: Source, routes: readonly Route[]): Asked => {
  const { of, chance, upTo } = source.draw
  const readings = routes.filter(({ kind }) => kind === 'list' || kind === 'one')
  const lists = routes.filter(({ kind }) => kind === 'list')
  // There are few rows, and what refers to them goes with them.
  const all = chance(20) ? routes : routes.filter(({ kind }) => kind !== 'delete')
  const route = of(...of(lists, readings, all))
  const id = () => (chance(94) ? String(upTo(13, 1)) : of('0', 'abc', '999'))
  const { admin, someone, blocked, callers } = source.people
  const viewer = of(admin, admin, admin, someone(upTo(9, 2)), blocked ?? admin, ...callers)
  const path = route.path.replaceAll(/:\w+/g, id)
  const { found, isStrict } =
    route.kind === 'list' ? listParameters(source, route, path) : { found: [], isStrict: false }
  const [first, second] = inQuery(found)
  const { method } = route
  const hasBody = ['create', 'replace', 'update'].includes(route.kind)
  const renamed = found.map(([[first, second]]) => [second, first] as const)
  return {
    line: [`${method} /api${path}?${first}`, `${method} /api/v2${path}?${second}`],
    viewer,
    headers: method === 'POST' && chance(20) ? { 'Idempotency-Key': `key${upTo(40)}` } : {},
    body: hasBody ? bodies(source, route, viewer) : undefined,
    entity: route.entity,
    names: new Map([...namesOf(source.model, route.entity), ...renamed]),
    isStrict,
  }
}

/** The rows of both stores in what both versions can write. */
const keptBy = async (twin: Filled) =>
  [...(await rowsOf(twin.world))].map(([name, rows]) => {
    const { fields } = entityOf(twin.model, name)
    const isKept = ([key]: readonly [string, unknown]) => isCommon(fields[key])
    return [name, rows.map(row => Object.fromEntries(Object.entries(row).filter(isKept)))]
  })

const sameKeys =
  (model: Model) =>
  async (line: OpenStore): Promise<void> => {
    assert.deepEqual(await fillWith(model, line), [])
    await line.session.query({
      text: `update secrets set value = ${line.dialect.placeholder(1)} where name = 'cursor'`,
      values: [Buffer.alloc(32, 'cursor')],
    })
  }

const remember = ({ cursors }: Source, { line }: Asked, [first, second]: readonly Answered[]) => {
  const path = /\/api(\/[^?]*)/.exec(line[0])?.[1] ?? ''
  const pair = [first?.json?.nextCursor, second?.json?.pagination?.nextCursor]
  if (pair.every(cursor => typeof cursor === 'string')) cursors.set(path, pair as [string, string])
}

/** Sends so many requests to both twins; throws at the first answer that differs otherwise than declared. */
const compareVersions = async (subject: Subject, seed: number, runs: number) => {
  const model = modelAsUsual(subject.content)
  let now = Date.UTC(2026, 5, 1)
  const options = { model, on: 'sqlite' as const, also: sameKeys(model), now: () => now }
  const twins = [await filled(subject, options), await filled(subject, options)]
  const [first] = twins as [Filled]
  const reference = await first.reference()
  const people = callersOf(subject)
  const source: Source = { draw: drawn(seed), people, model, reference, cursors: new Map(), n: 0 }
  const routes = first.routes.filter(({ lifetime }) => isIn(lifetime, 1) && isIn(lifetime, 2))
  const statuses = new Map<number, number>()
  for (let n = 0; n < runs; n++, now += 200) {
    const asked = draws(source, routes)
    const { viewer, headers, body, line, isStrict } = asked
    const ask = ({ world }: Filled, at: 0 | 1) =>
      world.ask(line[at], { ...asOf(viewer), headers, ...(body && { body: body[at] }) })
    const answers = await Promise.all(twins.map((twin, at) => ask(twin, at as 0 | 1)))
    const [old, recent] = answers as [Answered, Answered]
    const about = `seed ${seed}, request ${n}: ${JSON.stringify(asked)}\n${old.text}\n${recent.text}`
    statuses.set(old.status, (statuses.get(old.status) ?? 0) + 1)
    assert.ok(old.status < 500, about)
    if (isStrict) {
      assert.equal(recent.status, old.status === 200 ? 422 : old.status, about)
      continue
    }
    assert.equal(recent.status, old.status, about)
    assert.deepEqual(headersOf(recent), headersOf(old), about)
    const expected = JSON.stringify(olderAnswer(model, asked, recent)).replaceAll(
      '"/api/v2/',
      '"/api/',
    )
    assert.equal(JSON.stringify(ownAnswer(model, asked, old)), expected, about)
    remember(source, asked, answers)
  }
  const [one, other] = await Promise.all(twins.map(keptBy))
  assert.deepEqual(one, other)
  for (const { world } of twins) await world.close()
  return statuses
}

/** A test for each content that as many requests are answered alike in both versions. */
export const versionsAnswerAlike = (usual: number): void => {
  const seed = usualSeed(7)
  const runs = Number(process.env.DUET_TEST_RUNS ?? usual)
  for (const subject of subjects.filter(({ content }) => content.versions.all.length > 1))
    void describe(`the versions of ${subject.name}`, () => {
      test(`say the same to ${runs} generated requests, but for what is declared [G21]`, async t => {
        t.diagnostic(`DUET_SEED=${seed}`)
        const statuses = [...(await compareVersions(subject, seed, runs))].sort()
        t.diagnostic(statuses.map(([status, count]) => `${count} times ${status}`).join(', '))
      })
    })
}
