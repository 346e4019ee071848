// A service whose writer does not wait for the disk: the control that a test must tell from the real one.
import { serve } from '@hono/node-server'
import { createWorld } from '../world.ts'

// The world is laid out as the service is; only its engine gets less.
const file = String(process.env.DUET_DATABASE_URL).slice('sqlite:'.length)
const world = await createWorld({
  file,
  engine: { sync: 'normal' },
  rows: {},
})
const server = serve({ fetch: world.app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  process.stderr.write(`listens on http://127.0.0.1:${port}\n`),
)
process.once('SIGTERM', () => server.close(() => world.close().then(() => process.exit(0))))
