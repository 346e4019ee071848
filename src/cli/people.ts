/** `duet people`: adds people and prints links that sign them in, lists them, gives roles, blocks, ends sessions, and gives up keys. */
import { urlOn } from '#base/paths.ts'
import { steering } from '#base/text.ts'
import { readArgs, UsageError, unknownWord } from '#cli/arguments.ts'
import { addRow } from '#cli/transfer/rows-in.ts'
import { loadConfig } from '#config.ts'
import type { Content, ContentStore } from '#content.ts'
import { columnName, entityOf, fieldOf } from '#model/model.ts'
import type { People } from '#model/people.ts'
import { isEmail, parseId } from '#model/values.ts'
import { foldedAs } from '#model/words.ts'
import { nameless } from '#people/rows.ts'
import { forgetSecret, retireKeys } from '#people/settings.ts'
import { linkAt, linkFor } from '#people/store.ts'
import { ask, withStore } from '#serve/store.ts'
import { name, type SqlValue, sql } from '#sql/sql.ts'
import { assignments, changesOf } from '#write/row-values.ts'

export const help = `Usage: duet people add --email EMAIL [--name NAME] [--role ROLE]
       duet people list
       duet people role WHO ROLE
       duet people block | unblock | signout WHO
       duet people keys retire

add makes a row for an address, or finds the one that has it, and prints a link that signs that
person in once, within an hour; it needs no mail, and is how a production store gets its first
admin. WHO is an address or an id. block takes a person's right to sign in and to write, signout
ends all sessions. keys retire gives up the keys that sign tokens, and which secret the store was
used with: for a DUET_PEOPLE_SECRET that is lost, or was seen by others. The server may run
meanwhile.`

/** Does something to somebody's row, and says what, such as `user 1 is blocked`. */
const changed = (
  content: Content,
  people: People,
  who: string,
  work: (store: ContentStore, id: number) => Promise<string>,
): Promise<void> =>
  withStore(content, 'filling', async store => {
    const id = await found(store, people, who)
    if (id === undefined)
      throw new UsageError(`there is no ${people.entity} ${who}: name one by address or id`)
    process.stdout.write(`${people.entity} ${id} ${await work(store, id)}\n`)
  })

/** The id of the row of an address, or of an id. */
const found = async (store: ContentStore, people: People, who: string) => {
  const field = fieldOf(entityOf(store.model, people.entity), people.emailKey)
  const isIts = isEmail(who)
    ? sql`${name(columnName(people.emailKey))} = ${foldedAs(field, who)}`
    : sql`id = ${parseId(who) ?? -1}`
  const [row] = await ask(store, sql`select id from ${name(people.table)} where ${isIts}`)
  return row && Number(row[0])
}

/** Gives a row this value of a field, as an update does. */
const change = async (
  store: ContentStore,
  people: People,
  id: number,
  key: string,
  value: SqlValue,
) => {
  const { model, dialect } = store
  const values = new Map([[key, value]])
  const set = assignments(changesOf({ model, dialect, now: Date.now() }, people.entity, values))
  await ask(store, sql`update ${name(people.table)} set ${set} where id = ${id}`)
}

const roleIn = ({ viewers }: Content, role: string): string => {
  if (viewers.roles.names.includes(role)) return role
  throw unknownWord('role', role, viewers.roles.names)
}

const add = async (args: readonly string[], content: Content, people: People): Promise<void> => {
  const option = { type: 'string' } as const
  const { values } = readArgs(args, { email: option, name: option, role: option }, 0)
  const { email, role } = values
  if (email === undefined)
    throw new UsageError('--email is missing: duet people add --email ada@example.org --role admin')
  if (role !== undefined) roleIn(content, role)
  const known = await withStore(content, 'filling', async store => {
    const id = await found(store, people, email)
    if (id !== undefined && role !== undefined) await change(store, people, id, people.role, role)
    return id
  })
  const row = {
    [people.email]: email,
    [people.name]: values.name ?? nameless,
    ...(role !== undefined && { [people.role]: role }),
  }
  const id = known ?? (await addRow(content, people.entity, row))
  const { token, insert } = linkFor(id, Date.now())
  await withStore(content, 'filling', store => ask(store, insert))
  const config = loadConfig(process.env, content.settings)
  const { DUET_PUBLIC_URL: named, DUET_PEOPLE_SECRET: secret } = config.values
  const url = named ?? urlOn(config.host, config.port)
  process.stdout.write(`${people.entity} ${id}\n${linkAt(url, token)}\n`)
  const note = (text: string) => process.stderr.write(`duet: ${text}\n`)
  if (named === undefined)
    note(`the link takes the service to be at ${url}: if it is not, set DUET_PUBLIC_URL`)
  if (secret === undefined && !config.development)
    note('sign-in is off without DUET_PEOPLE_SECRET: the link works once the service has one')
}

const list = (content: Content, people: People) =>
  withStore(content, 'reading', async store => {
    const { blocked } = content.viewers
    const at = (key: string) => name(columnName(key))
    const state = blocked ? at(blocked.field) : sql`null`
    const rows = await ask(
      store,
      sql`select id, ${at(people.email)}, ${at(people.name)}, ${at(people.role)}, ${state}, ${at(people.verified)},
        (select count(*) from auth_sessions where user_id = people.id and expires_at > ${Date.now()})
        from ${name(people.table)} as people order by id`,
    )
    // Anybody may have chosen a name.
    const plain = (text: unknown) => String(text).replace(steering, ' ')
    for (const [id, email, called, role, stateNow, verified, sessions] of rows) {
      const marks = [
        role,
        ...(blocked && stateNow === blocked.value ? ['blocked'] : []),
        ...(Number(verified) === 1 ? [] : ['unproved']),
        `${sessions} ${Number(sessions) === 1 ? 'session' : 'sessions'}`,
      ]
      process.stdout.write(`${id}  ${email}  ${plain(called)}  (${marks.join(', ')})\n`)
    }
  })

const block = async (content: Content, people: People, who: string, isBlocked: boolean) => {
  const { blocked } = content.viewers
  if (!blocked)
    throw new UsageError('the content does not say who is blocked: give its viewers blocked')
  const { initial, values = [] } = fieldOf(entityOf(content, people.entity), blocked.field)
  const usual = typeof initial === 'object' && 'value' in initial ? initial.value : null
  const free = usual === blocked.value ? values.find(one => one !== blocked.value) : usual
  const value = isBlocked ? blocked.value : (free ?? null)
  await changed(content, people, who, async (store, id) => {
    await change(store, people, id, blocked.field, value)
    return isBlocked ? 'is blocked' : 'is not blocked any more'
  })
}

const forms = ['add', 'list', 'role', 'block', 'unblock', 'signout', 'keys']

export const run = async (
  [verb = '', ...args]: readonly string[],
  content: Content,
): Promise<void> => {
  const { people } = content
  if (people === undefined)
    throw new UsageError('nobody signs in to this content: let it say people: true')
  const [who = '', role = ''] = args
  const only = (count: number, form: string) => {
    if (args.length !== count) throw new UsageError(`it is duet people ${verb}${form}`)
  }
  switch (verb) {
    case 'add':
      return add(args, content, people)
    case 'list':
      only(0, '')
      return list(content, people)
    case 'role':
      only(2, ' WHO ROLE')
      roleIn(content, role)
      return changed(content, people, who, async (store, id) => {
        await change(store, people, id, people.role, role)
        return `has the role ${role}`
      })
    case 'block':
    case 'unblock':
      only(1, ' WHO')
      return block(content, people, who, verb === 'block')
    case 'signout':
      only(1, ' WHO')
      return changed(content, people, who, async (store, id) => {
        const all = sql`delete from auth_sessions where user_id = ${id} returning expires_at`
        const ended = (await ask(store, all)).filter(([until]) => Number(until) > Date.now())
        return `is signed out; sessions ended: ${ended.length}`
      })
    case 'keys':
      if (args.join(' ') !== 'retire') throw new UsageError('it is duet people keys retire')
      return withStore(content, 'filling', async store => {
        await store.session.transaction(async () => {
          await ask(store, retireKeys)
          await ask(store, forgetSecret)
        })
        process.stdout.write('the keys that sign tokens are given up: the next sign-in makes one\n')
      })
    default:
      throw unknownWord('form', verb, forms)
  }
}
