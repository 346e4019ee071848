/** What the tests of email verification share: worlds that send mail, and the tokens in it. */
import type { Event } from '#observe.ts'
import { mailServer } from '#test/mail-server.ts'
import { createWorld, type World, type WorldOptions } from '../world.ts'

export const hour = 3_600_000
/** Who sends the messages. */
export const from = 'Duet <duet@example.org>'
let count = 0
/** An address that no user has. */
export const newEmail = () => `person${++count}@example.org`

/** A world whose mail goes to a real server on loopback. */
export const posted = async (
  t: { after: (done: () => unknown) => void },
  behaviour: Parameters<typeof mailServer>[0] = {},
  options: WorldOptions = {},
) => {
  const server = await mailServer(behaviour)
  const world = await createWorld({
    ...options,
    mail: { delivery: { kind: 'smtp', url: server.url, from } },
    outbox: { every: 20, retryAfter: 20 },
  })
  t.after(async () => {
    await world.close()
    await server.close()
  })
  return { server, world }
}

/** Signs somebody up. */
export const signUp = (world: World, body: Record<string, unknown> = {}) =>
  world.ask('POST /api/users', { body: { name: 'Zed', email: newEmail(), ...body } })

/** Sends a token back, or asks for another message where none is given. */
export const verify = (world: World, id: number, as: number | undefined, token?: unknown) =>
  world.ask(`POST /api/users/${id}/verify-email`, {
    ...(as !== undefined && { as }),
    ...(token !== undefined && { body: { token } }),
  })

/** The token in a message. */
export const tokenIn = (text: string): string => /token=(\S+)/.exec(text)?.[1] ?? ''

/** What a world told of failures to send. */
export const failures = (world: World): readonly (Event & { kind: 'mail failed' })[] =>
  world.events.filter(event => event.kind === 'mail failed')
