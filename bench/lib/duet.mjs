/** Duet as it runs in production, from the outside: its commands, its server, its tokens. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { finish } from './processes.mjs'
import { startServer } from './servers.mjs'

/** Settings for a machine that does other work too, which must not end a run with refusals. */
export const patient = { DUET_QUEUE_WAIT: '60000', DUET_READ_TIMEOUT: '60000' }

/** The settings of memory that a service has in production: its allocator's, and those of V8. */
export const allocator = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
}
export const young = '--max-semi-space-size=16'

/** What `bin` can do with one store after another, a file or a database's URL; the secret lives as long as this process. */
export function duetAt(bin) {
  const secret = randomBytes(32).toString('hex')
  // Each request is counted as in production, but the bench is one caller. An older checkout knows no limit.
  const file = join(bin, '../../src/settings.ts')
  const settings = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const limit = settings && { DUET_RATE_LIMIT: '100000000' }
  const environment = store => ({
    ...foreign(process.env),
    ...limit,
    DUET_ENV: 'production',
    DUET_AUTH_SECRET: secret,
    DUET_DATABASE_URL: store.startsWith('postgres:') ? store : `sqlite:${store}`,
    DUET_HOST: '127.0.0.1',
    DUET_PORT: '0',
  })
  return {
    secret,
    /** Runs a command to its end; its progress is seen on this process's stderr if `shown`. */
    command: (store, args, shown = false) =>
      finish(process.execPath, [bin, ...args], {
        env: environment(store),
        stdio: ['ignore', 'pipe', shown ? 'inherit' : 'pipe'],
      }),
    token: async (store, role = 'user', more = []) => {
      const args = [bin, 'token', ...more, '--user', '1', '--role', role, '--ttl', '12h']
      return (await finish(process.execPath, args, { env: environment(store) })).trim()
    },
    /** Starts the server, with more settings where some are given; its log goes to a file, as it would on a machine that serves. */
    serve: (store, log, more = {}, args = []) =>
      startServer([young, bin, 'serve', ...args], {
        env: { ...allocator, ...environment(store), ...more },
        log,
      }),
    /** What makes a server read each answer anew; an older checkout does so anyway. */
    uncached: settings.includes('DUET_CACHE') ? { DUET_CACHE: '0' } : {},
    /** What gives it two threads for slow reads; an older checkout has none. */
    twoReaders: settings.includes('DUET_READERS') ? { DUET_READERS: '2' } : {},
  }
}

// Settings of the shell that started the bench are none of its business.
const foreign = environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('DUET_')))
