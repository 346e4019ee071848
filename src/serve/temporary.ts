/** A service for tests of a content: on a store of its own in a temporary folder, or on the one that the settings name. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mint } from '#auth/token.ts'
import type { JsonObject } from '#base/object.ts'
import { retry } from '#base/retry.ts'
import { loadConfig } from '#config.ts'
import type { Content, RowsByEntity } from '#content.ts'
import { partiesFor } from '#serve/auth.ts'
import { prepare } from '#serve/prepare.ts'
import { start } from '#serve/start.ts'

type ServiceOptions = {
  /** What an empty store begins with, as a demo has it; rows are numbered from 1. */
  readonly rows?: RowsByEntity
  /** Settings beside its own, such as `DUET_DATABASE_URL` for a database on PostgreSQL, which it migrates. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Whom a token is for: the id or the subject of a viewer, in the usual role unless another is named. */
type TokenFor = {
  readonly sub: number | string
  readonly role?: string
  readonly claims?: JsonObject
}

/** A service that runs in this process until it is stopped. */
export type TestService = {
  /** Such as http://127.0.0.1:41234. */
  readonly url: string
  readonly token: (whom: TokenFor) => Promise<string>
  readonly stop: () => Promise<void>
}

/** Serves a content for a test; a wrong setting or model is thrown as its start would say it. */
export const startService = async (
  content: Content,
  { rows = {}, settings = {} }: ServiceOptions = {},
): Promise<TestService> => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-service-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.on('exit', remove)
  const secret = randomBytes(32).toString('base64url')
  const config = loadConfig(
    {
      DUET_DATABASE_URL: `sqlite:${join(folder, 'duet.db')}`,
      DUET_PORT: '0',
      DUET_LOG: 'error',
      // A busy machine turns no test red.
      ...{ DUET_QUEUE_WAIT: '60000', DUET_WRITE_WAIT: '1m' },
      DUET_AUTH_SECRET: secret,
      ...(content.viewers.by !== undefined && {
        DUET_AUTH_ISSUER: 'https://issuer.example',
        DUET_AUTH_AUDIENCE: 'test',
      }),
      ...settings,
    },
    content.settings,
  )
  const program = { config, content: { ...content, demo: async () => rows } }
  const release = await prepare(program, true, () => {})
  const running = await start(program, () => process.exit(1))
  // Before PostgreSQL it listens while it connects.
  const ready = async () => {
    const answer = await fetch(`${running.url}/readyz`)
    if (!answer.ok) throw new Error(`the service is not ready: ${await answer.text()}`)
  }
  await retry({ wait: 60_000, pause: 20, passes: () => true, onWait: () => {} }, ready)
  const { viewers } = content
  return {
    url: running.url,
    token: ({ sub, role = viewers.roles.default, claims = {} }) =>
      mint(
        { sub, role, ttl: 3600, viewers, claims, ...partiesFor(config, viewers) },
        config.values.DUET_AUTH_SECRET ?? secret,
        Date.now(),
      ),
    stop: async () => {
      await running.stop()
      release()
      process.off('exit', remove)
      remove()
    },
  }
}
