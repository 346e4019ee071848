/** Kills: a process that serves is killed with SIGKILL while it writes, and all that it acknowledged must be there after the next start. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Content } from '#content.ts'
import { offersOf } from '#kit/check/offers.ts'
import { verdict } from '#kit/check/reference.ts'
import { type CheckService, Fault, harmless } from '#kit/check/service.ts'
import { entityOf } from '#model/model.ts'
import { startService } from '#serve/temporary.ts'

/** Where the settings of the child are: a hidden way to start it, which serves until it is killed or left alone. */
const settingsName = 'CHECK_CHILD_SETTINGS'

/** Serves as the child that is killed. */
export const serveAsChild = async (content: Content): Promise<void> => {
  const settings = JSON.parse(process.env[settingsName] ?? '{}')
  const { url } = await startService(
    harmless(content, () => {}),
    { settings },
  )
  process.stdout.write(`${url}\n`)
  // The check is over, or was killed itself.
  process.stdin.on('end', () => process.exit()).resume()
}

const startChild = async (settings: CheckService['settings'], file: string | undefined) => {
  const config = file === undefined ? [] : ['--config', file]
  const args = [...process.execArgv, process.argv[1] ?? '', 'check', '--as-child', ...config]
  const env = { ...process.env, [settingsName]: JSON.stringify(settings) }
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const [said] = await Promise.race([once(child.stdout, 'data'), exited])
  if (child.exitCode !== null) throw new Fault('the process that is to be killed does not start')
  return { url: String(said).trim(), child, exited }
}

/** Stops the service, and kills others on its store while they write; gives how many acknowledged writes were found again, undefined where nobody can create rows. */
export const checkKills = async (
  service: CheckService,
  file: string | undefined,
  isOver: () => boolean,
): Promise<{ readonly kills: number; readonly writes: number } | undefined> => {
  const { model, callers, ask } = service
  const before = await service.reference()
  const creates = (await offersOf(service)).filter(
    ({ operation, entity, isGraphql, route }) =>
      operation === 'create' &&
      !isGraphql &&
      route?.kind === 'create' &&
      !route.below &&
      entityOf(model, entity ?? '').sets.length === 0,
  )
  const drafts = creates.flatMap(offer =>
    callers.map(viewer => (n: number) => ({
      ...offer.draft({ viewer, row: undefined, reference: before, n: 2 * n + 1, wanted: 'made' }),
      ...{ entity: offer.entity ?? '', viewer, rule: offer.rule },
    })),
  )
  await service.stopServing()
  const allowed = drafts.filter(draft => {
    const { line, viewer, rule } = draft(90_000)
    return line && viewer.id !== null && verdict(rule, viewer, model) !== 'no'
  })
  if (allowed.length === 0) return undefined
  const total = { kills: 0, writes: 0 }
  let n = 100_000
  let serving = await startChild(service.settings, file)
  // A rule that lets a caller through is not enough: one whose row is there already makes no second one.
  const firstDone = async () => {
    for (const draft of allowed) {
      const { line = '', body, viewer } = draft(90_000)
      if ((await ask(line, viewer, body, serving.url)).status === 201) return draft
    }
    return undefined
  }
  const creating = await firstDone()
  if (!creating) {
    serving.child.kill('SIGKILL')
    await serving.exited
    return undefined
  }
  for (let round = 0; round < 3 && !(round > 0 && isOver()); round++) {
    const { url, child, exited } = serving
    const done: { readonly entity: string; readonly id: number }[] = []
    let isLate = false
    let isStopped = false
    const writing = Array.from({ length: 4 }, async () => {
      while (!isStopped) {
        const { line = '', body, entity, viewer } = creating(n++)
        const answer = await ask(line, viewer, body, url).catch(error => {
          if (error instanceof Fault) throw error
        })
        if (!answer) return
        if (answer.status === 201) done.push({ entity, id: answer.json.id })
        if (isLate || done.length >= 30 + 30 * round) child.kill('SIGKILL')
      }
    })
    // On a slow machine fewer writes are enough, but one is answered.
    const ending = setTimeout(() => {
      isLate = true
    }, 3000)
    await exited
    clearTimeout(ending)
    isStopped = true
    await Promise.all(writing)
    // The next one brings the store into order, and is killed in its turn.
    serving = await startChild(service.settings, file)
    const now = await service.reference()
    const lost = done.filter(({ entity, id }) => now.byId(entity, id) === undefined)
    if (lost.length > 0)
      throw new Fault(
        `${lost.length} of ${done.length} acknowledged writes were lost by a kill, such as ${lost[0]?.entity} ${lost[0]?.id}`,
      )
    total.kills += 1
    total.writes += done.length
  }
  serving.child.kill('SIGKILL')
  await serving.exited
  return total
}
