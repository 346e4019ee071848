/** The rows of people: better-auth's `user` is the entity of the content's viewers, read by its id or address and written by the same commands as any caller's write. */
import { entityOf, type Model } from '#model/model.ts'
import { columnName, fieldOf } from '#model/names.ts'
import type { People } from '#model/people.ts'
import { isStorable, parseId } from '#model/values.ts'
import { foldedAs } from '#model/words.ts'
import type { Person, PersonInput, PersonKey } from '#people/messages.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Rows } from '#sql/engine.ts'
import { comma, join, name, type Sql, sql } from '#sql/sql.ts'
import { commandOf } from '#write/command.ts'
import { create, update } from '#write/entity-commands.ts'
import { checkInput, invalid } from '#write/input.ts'
import type { Writer } from '#write/job.ts'
import { commit } from '#write/write.ts'

/** The name of a person who gave none: no part of the address, which fewer may read than the name. */
export const nameless = 'New member'

/** A name from outside is cut to so many letters: what a provider calls somebody is no reason to refuse a sign-in. */
const longestName = 40

/** Only the letters that all mail systems take for the same: by all of Unicode `ı` is an `i` and `ß` is `ss`, in another's address. */
const plain = (address: string) => address.replace(/[A-Z]/g, letter => letter.toLowerCase())

export type RowStore = {
  readonly model: Model
  readonly dialect: Dialect
  readonly writer: Writer
  readonly wakeOutbox: () => void
  /** Reads what was committed before, by whichever process. */
  readonly ask: (piece: Sql) => Promise<Rows>
}

/** Finds, makes and changes the rows of people. */
export const peopleRows = (store: RowStore, people: People) => {
  const { model, dialect, ask } = store
  const { entity: what, email, emailKey, name: named, verified, role } = people
  const { blocked, roles } = model.viewers
  const entity = entityOf(model, what)
  const { fields, table } = entity
  const copy = fieldOf(entity, emailKey)
  const made = Object.keys(fields).find(key => fields[key]?.initial === 'now')
  // The service itself: it has no row that could be blocked or deleted.
  const viewer = { id: null, role: roles.superuser, service: 'people' }

  const at = (field: string | undefined) =>
    field === undefined ? sql`null` : name(columnName(field))
  const keys = ['id', named, email, verified, role, blocked?.field, made, 'revision']
  const columns = join(keys.map(at), comma)
  const find = async (condition: Sql): Promise<Person | null> => {
    const [row] = await ask(sql`select ${columns} from ${name(table)} where ${condition}`)
    if (!row) return null
    const [id, called, address, proved, rank, state, createdAt, revision] = row
    return {
      id: String(id),
      name: String(called ?? ''),
      email: String(address),
      emailVerified: Number(proved) === 1,
      role: String(rank),
      blocked: blocked !== undefined && state === blocked.value,
      createdAt: Number(createdAt ?? 0),
      revision: Number(revision),
    }
  }
  const byId = async (id: string) => {
    const known = parseId(id)
    return known === undefined ? null : find(sql`id = ${known}`)
  }
  const byEmail = async (address: string) => {
    if (!isStorable(address)) return null
    const found = await find(sql`${at(emailKey)} = ${foldedAs(copy, address)}`)
    return found && plain(found.email) === plain(address) ? found : null
  }

  const checked = (mode: 'create' | 'update', given: PersonInput) => {
    const input: Record<string, unknown> = {}
    if (given.email !== undefined) input[email] = given.email
    if (given.emailVerified !== undefined) input[verified] = given.emailVerified
    const context = { mode, viewer, model, now: Date.now(), what, isService: true } as const
    const fits = (one: string) =>
      checkInput(entity, { [named]: one }, { ...context, mode: 'update' }).faults.length === 0
    if (given.name !== undefined || mode === 'create') {
      const called = [...(given.name ?? '')].slice(0, longestName).join('')
      input[named] = [called, nameless].find(fits)
    }
    const { values, faults } = checkInput(entity, input, context)
    if (faults.length > 0) throw invalid(faults)
    return values
  }
  const writing = () => ({ model, dialect, viewer, now: Date.now() })

  // Each rejects with the error of the command, such as the content's own for an address that is taken.
  return {
    find: async (key: PersonKey) =>
      key.id === undefined ? byEmail(key.email ?? '') : byId(key.id),
    create: async (given: PersonInput) => {
      const command = commandOf(writing(), create(writing(), what, checked('create', given)))
      const { rows } = await commit(store, command, null)
      return byId(String(rows[command.makes ?? 0]?.[0]?.[0]))
    },
    /** `revision`: that of the row when its address was proved; if it was changed since, nothing is. */
    update: async (id: string, given: PersonInput, revision?: number) => {
      const revisions = revision === undefined ? ('any' as const) : [revision]
      const target = { entity: what, id: Number(id), revisions }
      const command = commandOf(writing(), update(writing(), target, checked('update', given)))
      await commit(store, command, null)
      return byId(id)
    },
  }
}

export type PersonRows = ReturnType<typeof peopleRows>
