/** Uploads of a check: they are put straight into the store, as no caller sends any. */
import { hash } from 'node:crypto'
import type { Content, OpenStore } from '#content.ts'
import { noteArrival } from '#files/garbage.ts'
import { insertUpload } from '#files/uploads.ts'
import { anonymous } from '#kit/check/callers.ts'
import { subjectFor } from '#kit/check/rows.ts'
import { uploadsIn } from '#kit/check/values.ts'
import type { Viewer } from '#model/policy.ts'
import { queryOf } from '#sql/engine.ts'
import { sql } from '#sql/sql.ts'
import { ownerOf } from '#write/claims.ts'

/** The viewer as the service finds it in its token, which may name a subject, or a program where no row speaks. */
const asTokenSays = (viewer: Viewer, { entity, by }: Content['viewers']): Viewer => {
  if (viewer === anonymous || (entity !== undefined && by === undefined)) return viewer
  const id = viewer.id ?? 0
  if (by === undefined)
    return { id: null, role: viewer.role, service: hash('sha256', `${id}`, 'base64url') }
  const subject = subjectFor(id)
  return { ...viewer, subject, service: hash('sha256', subject, 'base64url') }
}

/** Notes the uploads that a body names as this viewer's, where a write looks for them. */
export const noteUploads = async (
  { session, dialect }: OpenStore,
  body: string,
  viewer: Viewer,
  viewers: Content['viewers'],
): Promise<void> => {
  const owner = ownerOf(asTokenSays(viewer, viewers))
  for (const [id, file] of uploadsIn(body)) {
    const now = Date.now()
    // A write takes an upload on only where its bytes are noted, as POST /api/files notes them.
    await session.query(queryOf(noteArrival(dialect, file, now), dialect))
    const waits = insertUpload(dialect, file, { id, owner, sender: '', now })
    const again = sql`${waits} on conflict (id) do update set owner = excluded.owner`
    await session.query(queryOf(again, dialect))
  }
}
