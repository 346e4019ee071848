/** A program with a folder of its own; both go when the process that made them goes, however it went. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statfsSync,
} from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export type Guard = {
  readonly folder: string
  /** Starts a program in the folder, as a user without rights where this process is root's. */
  readonly run: (program: string, args: readonly string[]) => Running
  /** Ends the program that runs and removes the folder. */
  readonly end: () => Promise<void>
}

export type Running = {
  readonly child: ChildProcess
  readonly gone: () => boolean
  /** Resolves when the program has ended. */
  readonly ended: Promise<unknown>
  /** The line of its output that says what went wrong. */
  readonly lastWords: () => string
}

// Told the program's id on its input, line by line. The input ends when the test's process does,
// even by SIGKILL; a process of its own group is spared by Ctrl-C.
const watchdog = `
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
  kill -s "$1" "$pid"
  tries=0
  while kill -0 "$pid" && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL "$pid"
fi
umount -l "$2"
rm -rf "$2" || { sleep 1; rm -rf "$2"; }
`

/** So much memory has to be free for files in it, in bytes. */
const muchMemory = 8 * 2 ** 30

/** A folder whose files are in memory, where there is enough of it. */
const memory = (): string | undefined => {
  const folder = '/dev/shm'
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    return undefined
  }
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > muchMemory && freemem() > muchMemory ? folder : undefined
}

/**
 * A new folder and its watchdog, which ends the program with the signal `bySignal`; `inMemory`: for data that need not
 * survive the machine, and whose many small files cost a disk more than the program.
 */
export const guarded = (name: string, bySignal: 'QUIT' | 'TERM', inMemory = false): Guard => {
  const owner = ownerOfServers()
  const folder = mkdtempSync(join((inMemory && memory()) || tmpdir(), `duet-${name}-`))
  if (owner) chownSync(folder, owner.uid, owner.gid)
  const dog = spawn('/bin/sh', ['-c', watchdog, 'sh', bySignal, folder], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const dogEnded = once(dog, 'exit')
  dog.unref()
  dog.stdin.on('error', () => {}) // a killed watchdog must not fail a test
  if ('unref' in dog.stdin && typeof dog.stdin.unref === 'function') dog.stdin.unref()

  const run = (program: string, args: readonly string[]): Running => {
    const file = join(folder, 'log')
    const log = openSync(file, 'w')
    const child = spawn(program, args, {
      ...owner,
      cwd: folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      stdio: ['ignore', log, log],
      detached: true,
    })
    closeSync(log)
    dog.stdin.write(`${child.pid ?? ''}\n`)
    let failure = ''
    const ended = new Promise<void>(resolve => {
      child.once('error', error => {
        failure = error.message
        resolve()
      })
      child.once('exit', () => {
        dog.stdin.write('\n')
        resolve()
      })
    })
    const gone = () => failure !== '' || child.exitCode !== null || child.signalCode !== null
    const lastWords = () => failure || telling(readFileSync(file, 'utf8'))
    return { child, gone, ended, lastWords }
  }

  const end = async () => {
    dog.ref()
    dog.stdin.end()
    await dogEnded
  }
  return { folder, run, end }
}

/** A disk of so many MB, which is full soon and goes as a guard does; undefined where none may be mounted. */
export const smallDisk = async (megabytes: number): Promise<Guard | undefined> => {
  const disk = guarded('disk', 'TERM')
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', disk.folder]
  if (spawnSync('mount', options).status === 0) return disk
  await disk.end()
  return undefined
}

/** The user whom servers run as that refuse to run as root; undefined if we are not root. */
function ownerOfServers() {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find(line => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('neither postgres nor nobody is a user here, and the server refuses to be root')
}

function telling(log: string): string {
  const lines = log.trim().split('\n')
  const line = lines.find(line => /fatal|error|panic|alert/i.test(line)) ?? lines.at(-1) ?? ''
  return line.replace(/^[\d-]+ [\d:.]+ \w+ \[\d+\] /, '') // when, and which process
}

/** Where a program is; undefined if it is not installed. */
export const installed = (name: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
    .map(folder => join(folder, name))
    .find(file => existsSync(file))
