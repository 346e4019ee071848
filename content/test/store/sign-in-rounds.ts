/** Kills the service while people sign in and out, and looks for sessions that are lost, or there again, and for people who are locked out. */
import assert from 'node:assert/strict'
import { type Settings, serve } from '#test/duet.ts'
import { isPlanned } from '#test/support/rounds.ts'
import { until } from '#test/support/wait.ts'
import { mailbox, send, signedIn, tokenStatus } from '../support/sign-in.ts'
import { peopleSecret } from '../world.ts'

const people = isPlanned ? 8 : 4

/** So many sessions of earlier rounds are looked at again after each. */
const lookedAt = 20

/** Rounds of sign-ins that end in SIGKILL; gives how many sessions were looked for. */
export const signInRounds = async (rounds: number, settings: Settings) => {
  const box = await mailbox()
  const all = { ...settings, ...box.settings, DUET_PEOPLE_SECRET: peopleSecret }
  const signedInNow = new Set<string>()
  const signedOut = new Set<string>()
  let service = await serve(all)
  try {
    for (let round = 0; round < rounds; round++) {
      const { url } = service
      const begun = signedInNow.size + signedOut.size
      let isGone = false
      /** Signs in as one after another, and every third out again, until the service is gone. */
      const comeAndGo = async (name: string) => {
        for (let count = 0; ; count++) {
          const email = `${name}.${count}@example.org`
          try {
            const session = await signedIn([url, url], box, email, () => isGone)
            signedInNow.add(session)
            if (count % 3 === 2) {
              // From here on nobody knows, until it is answered.
              signedInNow.delete(session)
              const { status } = await send(url, 'POST /auth/sign-out', {
                bearer: session,
                body: {},
              })
              if (status === 200) signedOut.add(session)
            }
          } catch (error) {
            if (error instanceof assert.AssertionError) throw error
            return email
          }
        }
      }
      const coming = Array.from({ length: people }, (_, at) => comeAndGo(`r${round}p${at}`))
      const enough = begun + people + Math.floor(Math.random() * 2 * people)
      await until('enough sign in', () => signedInNow.size + signedOut.size >= enough)
      await service.end('SIGKILL')
      isGone = true
      const cutOff = await Promise.all(coming)

      service = await serve(all)
      const some = (sessions: ReadonlySet<string>) =>
        [...sessions].slice(-(3 * people + lookedAt)).concat([...sessions].slice(0, lookedAt))
      for (const session of some(signedInNow))
        assert.equal(await tokenStatus(service.url, session), 200, `round ${round}: lost`)
      for (const session of some(signedOut))
        assert.equal(await tokenStatus(service.url, session), 401, `round ${round}: revived`)
      // Whoever was amid a sign-in comes in with a new code.
      for (const email of cutOff) {
        while (box.nextCode(email) !== undefined);
        signedInNow.add(await signedIn([service.url, service.url], box, email))
      }
    }
  } finally {
    await service.end('SIGKILL')
    await box.close()
  }
  return { kept: signedInNow.size, ended: signedOut.size }
}
