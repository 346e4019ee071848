/** The row that speaks for a token's subject: looked up before a write, and made by the first one where the content says so. */
import { columnName, entityOf, type Model } from '#model/model.ts'
import { withArticle } from '#model/names.ts'
import { judge, type Viewer } from '#model/policy.ts'
import { type ClaimPath, namesOf } from '#model/viewers.ts'
import type { PlanReader } from '#read/read.ts'
import type { Dialect } from '#sql/dialect.ts'
import { queryOf, type Rows } from '#sql/engine.ts'
import { name, sql } from '#sql/sql.ts'
import { commandOf, rememberSubject } from '#write/command.ts'
import { create } from '#write/entity-commands.ts'
import { checkInput, invalid } from '#write/input.ts'
import { type Writer, writePieces } from '#write/job.ts'
import { commit } from '#write/write.ts'

/** What looks up and makes rows of viewers: a core has it. */
export type ViewerStore = {
  readonly model: Model
  readonly dialect: Dialect
  readonly reader: PlanReader
  readonly writer: Writer
  readonly wakeOutbox: () => void
  readonly now: () => number
}

/** The values of the row that the claims of a viewer make, and the faults of those claims. */
const claimedValues = (
  { model, now }: ViewerStore,
  viewer: Viewer,
  signUp: Readonly<Record<string, ClaimPath>>,
) => {
  // What the identity provider says may also be what callers cannot set.
  const { entity: what = '' } = model.viewers
  const context = { mode: 'import', viewer, model, now: now(), what } as const
  const also = Object.keys(signUp)
  const input = checkInput(entityOf(model, what), viewer.claims ?? {}, { ...context, also })
  const faults = input.faults.map(({ field, message }) => ({
    field,
    message: `${message}: the first write makes ${withArticle(what)} of the token, and its claim ${namesOf(signUp[field] ?? 'sub').join('.')} gives this`,
  }))
  return { values: input.values, faults }
}

/**
 * The viewer of a write with the id of its row. Nothing is cached: a row is looked up anew for each write, and the write checks in
 * its own transaction that the row is there. The first write of a subject makes its row if the content says so and the create rule
 * lets the token; `countCreation` throws or rejects where its caller has made too many. Rejects with 422 for lacking claims, and with 409 if a value is another row's.
 */
export const actingViewer = async (
  store: ViewerStore,
  viewer: Viewer,
  countCreation: (() => unknown) | undefined,
): Promise<Viewer> => {
  const { model, dialect, reader } = store
  const { entity: what, by, signUp, roles } = model.viewers
  const { subject, service } = viewer
  if (subject === undefined || service === undefined || what === undefined || by === undefined)
    return viewer
  const entity = entityOf(model, what)
  const found = sql`select (select id from ${name(entity.table)} where ${name(columnName(by))} = ${subject}),
    (select 1 from viewer_subjects where digest = ${service})`
  const acting = async ([rows]: readonly Rows[]): Promise<Viewer | undefined> => {
    const [id = null, wasMade = null] = rows?.[0] ?? []
    if (id === null) return wasMade === null ? undefined : viewer
    // The row came past the service.
    if (wasMade === null) await writePieces(store, rememberSubject(service))
    return { ...viewer, id: Number(id) }
  }

  const known = await acting([await reader.query({ ...queryOf(found, dialect), isQuick: true })])
  if (known?.id) return known
  // A replica may not have it yet, or still.
  const present = await acting(await writePieces(store, found))
  if (present) return present
  const rule = entity.policy.create
  const mayMake = rule !== undefined && judge(rule, viewer, model) !== 'no'
  if (!signUp || !countCreation || !mayMake) return viewer
  await countCreation()
  const checked = claimedValues(store, viewer, signUp)
  // Programs of a superuser have no person's claims, and write as nobody.
  if (checked.faults.length > 0 && viewer.role === roles.superuser) return viewer
  if (checked.faults.length > 0) throw invalid(checked.faults)
  try {
    const writing = { model, dialect, viewer, now: store.now() }
    await commit(store, commandOf(writing, create(writing, what, checked.values)), null)
  } catch (error) {
    // Of two first writes at once one makes it.
    const others = await acting(await writePieces(store, found))
    if (others) return others
    throw error
  }
  return (await acting(await writePieces(store, found))) ?? viewer
}
