/**
 * A service of `duet dev`, in a process of its own: it says whether it could serve, or what is wrong, waits until the one before has
 * ended, and serves.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { mapped } from '#base/object.ts'
import { endOnSignals } from '#cli/serve.ts'
import { goOnWithout } from '#cli/terminal.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { historyBefore } from '#engines/shared/migrations.ts'
import { draftings, draftMigrations, lackOf, RenameQuestion, titleOf } from '#kit/draft/draft.ts'
import type { Entities } from '#model/model.ts'
import { tellOnStart } from '#pages/start.ts'
import { authOf } from '#serve/auth.ts'
import { checkedGraphql } from '#serve/graphql.ts'
import { type Program, prepare } from '#serve/prepare.ts'
import { start } from '#serve/start.ts'
import { checkSchema, migrateStore, modelFor, storeOf } from '#serve/store.ts'

/** Former names by fields, such as \`note.text\`; false of one that is new. */
type Renamed = Readonly<Record<string, string | false>>

/** What a service tells before it serves, and when it does. */
export type FromService =
  /** It could serve. */
  | { readonly kind: 'ready' }
  /** No migration makes what these statements make. */
  | { readonly kind: 'lacks'; readonly statements: string; readonly name: string }
  | { readonly kind: 'asks'; readonly what: string; readonly former: string; readonly text: string }
  | { readonly kind: 'drafted'; readonly files: readonly string[] }
  | { readonly kind: 'listening'; readonly url: string; readonly hello: string }

/** What it is told. */
export type ToService =
  /** The one before has ended. */
  | { readonly kind: 'go' }
  | { readonly kind: 'draft'; readonly name: string }
  | { readonly kind: 'renamed'; readonly renamed: Renamed }
  /** Why the change after it is not served. */
  | { readonly kind: 'fault'; readonly text: string }

const tell = (message: FromService): void => void process.send?.(message)

/** Drafts what the migrations lack, as its starter wants it; resolves when they make all that the model has. */
const untilMigrated = async (
  { config, content }: Program,
  answer: () => Promise<ToService>,
): Promise<void> => {
  let renamed: Renamed = {}
  for (;;) {
    const entities: Entities = mapped(content.entities, (entity, name) => ({
      ...entity,
      fields: mapped(entity.fields, (field, key) => {
        const former = renamed[`${name}.${key}`]
        return former === undefined ? field : { ...field, renamed: former }
      }),
    }))
    try {
      const lacks = draftings.map(drafting => {
        const history = historyBefore(drafting.engine, content.migrations)
        const { inside, outside } = lackOf(drafting, entities, history)
        return { engine: drafting.engine, statements: [...inside, ...outside] }
      })
      const lacking = lacks.filter(({ statements }) => statements.length > 0)
      const own = lacking.find(({ engine }) => engine === config.store.kind) ?? lacking[0]
      if (!own) return
      const statements = `${own.statements.join(';\n')};`
      tell({ kind: 'lacks', statements, name: titleOf(statements) })
    } catch (error) {
      if (!(error instanceof RenameQuestion)) throw error
      const { entity, field, former, message: text } = error
      tell({ kind: 'asks', what: `${entity}.${field}`, former, text })
    }
    const told = await answer()
    if (told.kind === 'renamed') renamed = { ...renamed, ...told.renamed }
    if (told.kind !== 'draft') continue
    const files = draftMigrations(draftings, entities, told.name, content.migrations)
    tell({ kind: 'drafted', files: files.map(file => relative('', file)) })
    // Its starter ends it: the next one finds the files.
    await answer()
  }
}

/**
 * Applies what the store lacks while the one before still serves: to a copy of a file, which nobody misses; to a database itself, where
 * a migration that fails leaves nothing.
 */
const tryMigrations = async ({ config, content }: Program): Promise<void> => {
  const { entities } = content
  const store = await storeOf(config, content)
  if (config.store.kind === 'postgres') return void (await migrateStore(store, entities))
  const { file } = config.store
  if (!existsSync(file) || (await store.pending()).length === 0) return
  const { backUp } = await import('#engines/sqlite/backup.ts')
  const folder = mkdtempSync(join(tmpdir(), 'duet-dev-'))
  try {
    const copy = join(folder, 'duet.db')
    await backUp(file, copy, { force: false, onPages: () => {} })
    const tried = await storeOf({ ...config, store: { kind: 'sqlite', file: copy } }, content)
    await migrateStore(tried, entities)
    await checkSchema(tried, entities)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Says whether it could serve, and waits until the one before has ended. */
const untilTurn = async (program: Program): Promise<void> => {
  const { config, content } = program
  let answered = Promise.withResolvers<ToService>()
  process.on('message', (told: ToService) => {
    if (told.kind === 'fault') return tellOnStart(told.text)
    answered.resolve(told)
    answered = Promise.withResolvers()
  })
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  authOf(config, content)
  await checkedGraphql(config, modelFor(config, content), content.actions)
  await content.served()
  await untilMigrated(program, () => answered.promise)
  await tryMigrations(program)
  const go = answered.promise
  tell({ kind: 'ready' })
  await go
}

export const help = 'Called by duet dev, which tells it what to do'

export const run = async (_args: readonly string[], content: Content): Promise<void> => {
  goOnWithout(process.stderr)
  const program = { config: loadConfig(process.env, content.settings), content, socket: undefined }
  await untilTurn(program)
  const release = await prepare(program, true, line => process.stderr.write(`duet: ${line}\n`))
  const { url, hello, stop } = await start(program, () => process.exit(1))
  endOnSignals(async () => {
    await stop()
    release()
  })
  tell({ kind: 'listening', url, hello })
}
