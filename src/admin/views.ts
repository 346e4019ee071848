/** The views of lists that callers of the admin saved: their own, and those of their role, which the superuser writes. */
import { isObject } from '#base/object.ts'
import { type Core, writingFor } from '#core.ts'
import { ApiError, type FieldFault } from '#errors.ts'
import type { Model } from '#model/model.ts'
import { callerOf, type Viewer } from '#model/policy.ts'
import { isStorable } from '#model/values.ts'
import { queryOf } from '#sql/engine.ts'
import { comma, join, number, sql } from '#sql/sql.ts'
import { commandOf, type GuardedStep } from '#write/command.ts'
import { invalid } from '#write/input.ts'
import { readPrimary } from '#write/job.ts'
import { commit } from '#write/write.ts'

/** The longest name of a view, the longest text of what it shows, and the most that one caller or role has of an entity. */
const mostName = 60
const mostShown = 4000
const mostViews = 50

/** A view as the page has it: its name, the role whose it is unless it is the caller's own, and what the page shows by it. */
type SavedView = { readonly name: string; readonly role?: string; readonly shows: unknown }

const ownerOf = (viewer: Viewer): string => {
  const own = callerOf(viewer)
  if (own === undefined)
    throw new ApiError('FORBIDDEN', 'Views belong to somebody, and this token is nobody’s')
  return `own ${own}`
}

const ownerOfRole = (role: string): string => `role ${role}`

/** The views of an entity that a caller sees, by name: its own, and those of its role; the superuser sees those of all roles. */
export const viewsOf = async (
  core: Core,
  viewer: Viewer,
  entity: string,
): Promise<readonly SavedView[]> => {
  const own = ownerOf(viewer)
  const { names, superuser } = core.model.viewers.roles
  const roles = viewer.role === superuser ? names : [viewer.role]
  const owners = join([own, ...roles.map(ownerOfRole)], comma)
  const piece = sql`select owner, name, shows from admin_views where owner in (${owners}) and entity = ${entity} order by name, owner`
  // What was saved just now is seen.
  const rows = await readPrimary(core, queryOf(piece, core.dialect))
  return rows.map(([owner, name, shows]) => ({
    name: String(name),
    ...(owner !== own && { role: String(owner).slice(ownerOfRole('').length) }),
    shows: JSON.parse(String(shows)),
  }))
}

/** Whose view is written: the caller's own, or that of a role, which the superuser alone may write. */
const writtenOwner = (model: Model, viewer: Viewer, role: unknown): string => {
  if (role === undefined) return ownerOf(viewer)
  const { names, superuser } = model.viewers.roles
  if (typeof role !== 'string' || !names.includes(role))
    throw invalid([{ field: 'role', message: `must be one of ${names.join(', ')}` }])
  if (viewer.role !== superuser)
    throw new ApiError('FORBIDDEN', `Views of a role are saved by the role ${superuser}`)
  return ownerOfRole(role)
}

/** Writes as any write of the caller: one who is blocked, gone or signed out is refused. */
const write = async (core: Core, viewer: Viewer, steps: readonly GuardedStep[]): Promise<void> => {
  await commit(core, commandOf(writingFor(core, viewer), { name: 'save views', steps }), null)
}

/** Saves a view in the place of one with its name; throws `VALIDATION_ERROR`, or `FORBIDDEN` for that of a role. */
export const saveView = async (
  core: Core,
  viewer: Viewer,
  entity: string,
  { name, role, shows }: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const owner = writtenOwner(core.model, viewer, role)
  const text = JSON.stringify(shows) ?? ''
  const isName =
    typeof name === 'string' && name.trim() !== '' && name.length <= mostName && isStorable(name)
  const isShown = isObject(shows) && text.length <= mostShown && isStorable(text)
  const faults: FieldFault[] = []
  if (!isName)
    faults.push({ field: 'name', message: `must be a text of 1 to ${mostName} characters` })
  if (!isShown)
    faults.push({ field: 'shows', message: `must be an object of up to ${mostShown} letters` })
  if (faults.length > 0) throw invalid(faults)
  const isFull = sql`select 1 from admin_views
    where owner = ${owner} and entity = ${entity} and name <> ${String(name)}
    limit 1 offset ${number(mostViews - 1)}`
  await write(core, viewer, [
    {
      sql: sql`select 1 where not exists (${isFull})`,
      refused: () =>
        new ApiError('CONFLICT', `There are ${mostViews} views already: delete one first`),
    },
    {
      sql: sql`insert into admin_views (owner, entity, name, shows) values (${owner}, ${entity}, ${String(name)}, ${text})
        on conflict (owner, entity, name) do update set shows = excluded.shows returning name`,
    },
  ])
}

/** Deletes a view; throws `NOT_FOUND` if there is none, or `FORBIDDEN` for that of a role. */
export const deleteView = async (
  core: Core,
  viewer: Viewer,
  entity: string,
  name: string,
  role: string | undefined,
): Promise<void> => {
  const owner = writtenOwner(core.model, viewer, role)
  const refused = () => new ApiError('NOT_FOUND', `There is no view ${name.slice(0, mostName)}`)
  if (!isStorable(name)) throw refused()
  const gone = sql`delete from admin_views where owner = ${owner} and entity = ${entity} and name = ${name} returning name`
  await write(core, viewer, [{ sql: gone, refused }])
}
