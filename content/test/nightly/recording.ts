/** The writes and answers of a traced service, in order; and the disk as a power cut could leave it. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** `end`: of the two ends of a file's name, which file it is. */
type File = 'db' | 'wal'

export type Deed =
  | { readonly kind: 'write'; readonly file: File; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'sync'; readonly file: File }
  | { readonly kind: 'truncate'; readonly file: File; readonly size: number }
  | { readonly kind: 'told'; readonly status: number; readonly body: string }

/** The options for strace that record what `recordingOf` reads. */
export const recordInto = (log: string): readonly string[] => [
  ...['-y', '-xx', '-s', '70000', '-o', log],
  ...['-e', 'trace=pwrite64,pwritev,fsync,fdatasync,ftruncate,write,writev,sendto'],
]

const decoded = (hex: string): Buffer => Buffer.from(hex.replaceAll('\\x', ''), 'hex')

const fileOf = (call: string): File | undefined => {
  const name = /^\w+\(\d+<([^>]*)>/.exec(call)?.[1] ?? ''
  const text = name.includes('\\x') ? decoded(name).toString() : name
  if (text.endsWith('duet.db')) return 'db'
  return text.endsWith('duet.db-wal') ? 'wal' : undefined
}

const told = (call: string): Deed | undefined => {
  const text = [...call.matchAll(/"((?:\\x[0-9a-f]{2})+)"/g)]
    .map(([, hex = '']) => decoded(hex).toString())
    .join('')
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
  if (status === undefined) return undefined
  return { kind: 'told', status: Number(status), body: text.slice(text.indexOf('\r\n\r\n') + 4) }
}

const onDisk = (call: string, name: string): Deed | undefined => {
  const file = fileOf(call)
  if (!file) return undefined
  if (name === 'fsync' || name === 'fdatasync')
    return / = 0$/.test(call) ? { kind: 'sync', file } : undefined
  if (name === 'ftruncate') {
    const size = /, (\d+)\)\s+= 0/.exec(call)?.[1]
    return size === undefined ? undefined : { kind: 'truncate', file, size: Number(size) }
  }
  const write = /, "([^"]*)"(\.\.\.)?, \d+, (\d+)\)\s+= (\d+)/.exec(call)
  if (name !== 'pwrite64') throw new Error(`the recording has a ${name}, which is not replayed`)
  if (!write) return undefined
  const [, hex = '', cut, at, length] = write
  if (cut) throw new Error('the recording has cut a write short')
  return { kind: 'write', file, at: Number(at), bytes: decoded(hex).subarray(0, Number(length)) }
}

const answers = ['write', 'writev', 'sendto']

/**
 * Reads a recording. A call that strace prints in two parts counts as done at its second, so that no sync comes too
 * early; an answer counts from its first, so that no promise comes too late.
 */
export const recordingOf = async (log: string): Promise<readonly Deed[]> => {
  const deeds: Deed[] = []
  const begun = new Map<string, string>()
  const add = (deed: Deed | undefined) => deed && deeds.push(deed)
  for await (const line of createInterface({ input: createReadStream(log, 'latin1') })) {
    const [, pid = '', text = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const resumed = /^<\.\.\. (\w+) resumed>(.*)$/.exec(text)
    const open = / ?<unfinished \.\.\.>$/.exec(text)
    const first = open ? text.slice(0, open.index) : text
    const name = resumed?.[1] ?? /^\w+/.exec(text)?.[0] ?? ''
    if (answers.includes(name)) {
      if (!resumed) add(told(first))
    } else if (open) begun.set(pid, first)
    else add(onDisk(resumed ? `${begun.get(pid) ?? ''}${resumed[2]}` : text, name))
  }
  return deeds
}

/** A file's bytes, which grow as they are written. */
const createImage = (initial: Buffer) => {
  let room = Buffer.from(initial)
  let size = initial.length
  const write = (at: number, bytes: Buffer) => {
    const end = at + bytes.length
    if (end > room.length) {
      const larger = Buffer.alloc(end * 2)
      room.copy(larger, 0, 0, size)
      room = larger
    }
    if (at > size) room.fill(0, size, at)
    bytes.copy(room, at)
    size = Math.max(size, end)
  }
  const truncate = (to: number) => {
    if (to > size) write(size, Buffer.alloc(to - size))
    size = to
  }
  return { write, truncate, bytes: () => room.subarray(0, size) }
}

const sector = 512

/** Disks that lose unsynced writes: from the operations in order, the files as a cut at this moment could leave them. */
export const createDisks = (base: Readonly<Record<File, Buffer>>, random: () => number) => {
  const disks = {
    db: { safe: createImage(base.db), pending: [] as Deed[] },
    wal: { safe: createImage(base.wal), pending: [] as Deed[] },
  }
  const put = (image: ReturnType<typeof createImage>, deed: Deed) => {
    if (deed.kind === 'write') image.write(deed.at, deed.bytes)
    if (deed.kind === 'truncate') image.truncate(deed.size)
  }
  const happen = (deed: Deed) => {
    if (deed.kind === 'told') return
    const disk = disks[deed.file]
    if (deed.kind !== 'sync') return void disk.pending.push(deed)
    for (const each of disk.pending) put(disk.safe, each)
    disk.pending = []
  }
  /** Each sector that was not synced is there or not, all of them, none, or by chance. */
  const torn = (file: File, chance: number): Buffer => {
    const { safe, pending } = disks[file]
    const image = createImage(safe.bytes())
    for (const deed of pending) {
      if (deed.kind !== 'write') {
        if (random() < chance) put(image, deed)
        continue
      }
      for (let from = 0; from < deed.bytes.length; from += sector)
        if (random() < chance) image.write(deed.at + from, deed.bytes.subarray(from, from + sector))
    }
    return image.bytes()
  }
  const cut = (): Readonly<Record<File, Buffer>> => {
    const chance = [0, 0.2, 0.5, 0.8, 1][Math.floor(random() * 5)] ?? 0
    return { db: torn('db', chance), wal: torn('wal', chance) }
  }
  return { happen, cut }
}
