/** A service of two processes, none of which outlives the test. */
import { after } from 'node:test'
import { type Service, type Settings, serve, serveOn } from '../../duet.ts'
import type { BoundSocket } from '../../support/bound-socket.ts'
import { childrenOf, isAlive } from './family.ts'

/** Processes whose first one was killed would go on if they did not end by themselves. */
const started = new Set<number>()
const killAll = () => {
  for (const pid of started) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
}
after(killAll)
process.on('exit', killAll)

/** The processes that live beside the first one. */
export const othersOf = async ({ child }: Service): Promise<readonly number[]> => {
  const pids = await childrenOf(child.pid)
  for (const pid of pids) started.add(pid)
  return pids
}

/** Starts it, on the socket that is handed over where there is one. */
export const serveTwo = async (settings: Settings, socket?: BoundSocket): Promise<Service> => {
  const service = socket
    ? await serveOn(socket, settings, '--processes', '2')
    : await serve(settings, '--processes', '2')
  await othersOf(service)
  return service
}
