/** The service under strace: what it does to the disk is recorded, delayed, or made to fail. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Service, type Settings, testThreads } from '#test/duet.ts'
import { inTime } from '#test/support/wait.ts'

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** The service itself, and one that may be opened with less care: for controls. */
export const programs = {
  duet: [path('../../../bin/duet'), 'serve'],
  lax: [path('lax-server.ts')],
} as const

/** Why a test that needs these tools is skipped here; false where it can run. */
export const without = (...tools: readonly string[]): string | false => {
  const missing = tools.filter(tool => spawnSync(tool, ['--version']).status !== 0)
  if (missing.length > 0) return `NOT TESTED: ${missing.join(' and ')} cannot be run here`
  if (!tools.includes('strace')) return false
  const tried = spawnSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=fsync', 'true'])
  return tried.status === 0 ? false : 'NOT TESTED: strace may not trace here'
}

const started = new Set<number>()
const kill = (pid: number, signal: NodeJS.Signals) => {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone already.
  }
}
const killAll = () => {
  for (const pid of started) kill(pid, 'SIGKILL')
}
// A failed test leaves its service running, and the test run would never end.
after(killAll)
process.on('exit', killAll)

const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])

/** Starts a program under strace with these options; `end` and `child` mean the program, not strace. */
export const serveTraced = async (
  settings: Settings,
  options: readonly string[],
  program: keyof typeof programs = 'duet',
): Promise<Service & { readonly code: () => number | null }> => {
  const outer = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(DUET_|PORT$|NODE_TEST|NODE_OPTIONS)/.test(name),
    ),
  )
  const child = spawn(
    'strace',
    ['-f', '--seccomp-bpf', '-qq', ...options, process.execPath, ...programs[program]],
    {
      env: {
        ...outer,
        ...{ DUET_PORT: '0', DUET_LOG: 'error', DUET_THREADS: String(testThreads) },
        ...settings,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  const gone = once(child, 'close')
  while (!/listens on (\S+)/.test(stderr)) {
    await Promise.race([once(child.stderr, 'data'), gone])
    if (child.exitCode !== null) throw new Error(`the service ended: ${stderr}`)
  }
  const pid = childOf(child.pid as number)
  started.add(pid)
  child.once('exit', () => started.delete(pid))
  const url = /listens on (\S+)/.exec(stderr)?.[1] ?? ''
  const end: Service['end'] = async (signal = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) kill(pid, signal)
    await inTime(`the service ends on ${signal}`, gone)
    return { code: child.exitCode }
  }
  const port = Number(new URL(url).port)
  return {
    url,
    port,
    child,
    stdout: () => '',
    stderr: () => stderr,
    end,
    gone,
    code: () => child.exitCode,
  }
}
