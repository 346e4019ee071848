// A service whose writer does not wait for the disk: the control that a test must tell from the real one.
import { serveApp } from '#test/support/served.ts'
import { createWorld } from '../world.ts'

// The world is laid out as the service is; only its engine gets less.
const file = String(process.env.DUET_DATABASE_URL).slice('sqlite:'.length)
const world = await createWorld({
  file,
  engine: { sync: 'normal' },
  rows: {},
})
const { server, origin } = await serveApp(world.app.fetch)
process.stderr.write(`listens on ${origin}\n`)
process.once('SIGTERM', () => server.close(() => world.close().then(() => process.exit(0))))
