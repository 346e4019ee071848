/** Duet as it runs in production, from the outside: its commands, its server, its tokens. */
import { randomBytes } from 'node:crypto'
import { finish } from './processes.mjs'
import { startServer } from './servers.mjs'

/** What `bin` can do with one store after another; the secret lives as long as this process. */
export function duetAt(bin) {
  const secret = randomBytes(32).toString('hex')
  const environment = file => ({
    ...foreign(process.env),
    DUET_ENV: 'production',
    DUET_AUTH_SECRET: secret,
    DUET_DATABASE_URL: `sqlite:${file}`,
    DUET_HOST: '127.0.0.1',
    DUET_PORT: '0',
  })
  return {
    /** Runs a command to its end; its progress is seen on this process's stderr if `shown`. */
    command: (file, args, shown = false) =>
      finish(process.execPath, [bin, ...args], {
        env: environment(file),
        stdio: ['ignore', 'pipe', shown ? 'inherit' : 'pipe'],
      }),
    token: async file => {
      const args = [bin, 'token', '--user', '1', '--role', 'user', '--ttl', '12h']
      return (await finish(process.execPath, args, { env: environment(file) })).trim()
    },
    /** Starts the server; its log goes to a file, as it would on a machine that serves. */
    serve: (file, log) => startServer([bin, 'serve'], { env: environment(file), log }),
  }
}

// Settings of the shell that started the bench are none of its business.
const foreign = environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('DUET_')))
