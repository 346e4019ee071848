/** What the tests of the reads of a content share, in one of its versions. */
import assert from 'node:assert/strict'
import { type ReferenceRow, type RowsReference, type View, verdict } from '#check/reference.ts'
import type { Listing } from '#model/entity.ts'
import { entityOf } from '#model/model.ts'
import { isByRow, type Viewer } from '#model/policy.ts'
import { isIn } from '#model/version.ts'
import type { Route } from '#rest/routes.ts'
import { refuses } from '../rest.ts'
import type { Answered } from '../world.ts'
import type { Subject } from './contents.ts'
import { asOf, callersOf, type Filled, pathOf } from './subject.ts'

/** How reading or writing is refused: 401 without a token, 403 with one. */
export const refusedTo = (answer: Answered, { role }: Viewer): void =>
  role === 'anonymous' ? refuses(answer, 401, 'UNAUTHENTICATED') : refuses(answer, 403, 'FORBIDDEN')

/** A world that all versions of a content are asked in, since nothing is written. */
export type Shared = { readonly it: Filled; readonly reference: RowsReference }

/** What asks a content in a version, and what the reference says that it should answer. */
export const readingOf = (view: View, subject: Subject, shared: () => Shared) => {
  const { version, prefix, style } = view
  const { admin, someone, callers } = callersOf(subject)
  const it = () => shared().it
  const reference = () => shared().reference

  const ask = (line: string, viewer: Viewer, headers = {}) =>
    it().world.ask(line, { ...asOf(viewer), headers })
  const routesOf = (kind: Route['kind']) =>
    it().routes.filter(route => route.kind === kind && isIn(route.lifetime, version))
  const rulesOf = ({ entity }: Route) => {
    const { policy } = entityOf(it().model, entity)
    return { enter: policy.enter ?? policy.read, read: policy.read }
  }

  /** The parents that a nested list is asked of: some, and one that is not there. */
  const parentsOf = ({ below }: Route) => (below ? [1, 2, 5, 999] : [undefined])

  const isThere = ({ below }: Route, parent: number | undefined, viewer: Viewer): boolean => {
    if (!below) return true
    const { read } = entityOf(it().model, below.entity).policy
    return reference()
      .seen(below.entity, read, viewer)
      .some(({ id }) => id === parent)
  }

  /** Asks a list of every parent as an admin, who sees all of it(), and where rows are hidden as somebody else, too. */
  const eachList = async (
    check: (route: Route, path: string, rows: readonly ReferenceRow[], viewer: Viewer) => unknown,
  ) => {
    for (const route of routesOf('list'))
      for (const viewer of isByRow(rulesOf(route).enter) ? [admin, someone(2)] : [admin])
        for (const parentId of parentsOf(route))
          if (
            isThere(route, parentId, viewer) &&
            verdict(rulesOf(route).enter, viewer, it().model) !== 'no'
          )
            await check(
              route,
              pathOf(route, prefix, { parentId }),
              reference().listed(route, parentId, viewer),
              viewer,
            )
  }

  const objects = (route: Route, rows: readonly ReferenceRow[], viewer: Viewer) =>
    rows.map(row => reference().objectOf(route.entity, row, view, viewer))

  /** Where the next page of such a list begins. */
  const cursorIn = ({ json }: Pick<Answered, 'json'>) =>
    style.lists === 'by paging' ? json.nextCursor : json.pagination.nextCursor

  /** Checks what stands beside the first page of a list of so many. */
  const checkEnvelope = (
    { json }: Answered,
    paging: Listing['paging'],
    limit: number,
    total: number,
  ) => {
    const hasNext = total > limit
    const pages = { page: 1, total, totalPages: Math.ceil(total / limit), hasPrev: false }
    const { data, ...beside } = json
    const isUniform = style.lists === 'uniform'
    if (paging !== 'cursor') {
      const more = isUniform ? { nextCursor: null } : {}
      assert.deepEqual(beside, { pagination: { ...pages, limit, hasNext, ...more } })
      return
    }
    const nextCursor = cursorIn({ json })
    assert.equal(typeof nextCursor, hasNext ? 'string' : 'object')
    assert.deepEqual(
      beside,
      isUniform ? { pagination: { limit, hasNext, nextCursor } } : { nextCursor },
    )
  }

  return {
    version,
    prefix,
    view,
    subject,
    admin,
    callers,
    it,
    reference,
    ask,
    routesOf,
    rulesOf,
    parentsOf,
    isThere,
    eachList,
    objects,
    cursorIn,
    checkEnvelope,
  }
}

export type Reading = ReturnType<typeof readingOf>
