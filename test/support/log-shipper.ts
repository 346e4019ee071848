/** A stand-in for Litestream: copies what is new in the log of a store, makes its checkpoints, and notices when it lost its place. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { longest } from './wait.ts'

/** Of the log's header and of each frame's (SQLite, "Database File Format", section 4). */
const headerBytes = 32
const frameHeaderBytes = 24

/** A shipper that has the store as it is now, which must have no log yet. It is not open at first. */
export const shipperOf = (file: string) => {
  const first = readFileSync(file)
  const pageSize = first.readUInt16BE(16)
  const pages = new Map<number, Buffer>()
  for (let number = 1; number * pageSize <= first.length; number++)
    pages.set(number, first.subarray((number - 1) * pageSize, number * pageSize))
  let count = pages.size
  let place = { salts: '', offset: headerBytes }
  let database: DatabaseSync | undefined
  let gaps = 0
  /** Whether the next log may be a new one: all of the last one was copied before its own checkpoint. */
  let mayBeginAnew = true

  /** Takes the frames from the place on, each transaction when it is whole. */
  const takeFrames = (log: Buffer): void => {
    let taken: (readonly [number, Buffer])[] = []
    for (let at = place.offset; at + frameHeaderBytes + pageSize <= log.length; ) {
      // A frame of an older log, which this one has not reached yet.
      if (log.toString('hex', at + 8, at + 16) !== place.salts) return
      const page = log.subarray(at + frameHeaderBytes, at + frameHeaderBytes + pageSize)
      taken.push([log.readUInt32BE(at), page])
      const size = log.readUInt32BE(at + 4)
      at += frameHeaderBytes + pageSize
      if (size === 0) continue
      for (const [number, bytes] of taken) pages.set(number, bytes)
      taken = []
      count = size
      place = { ...place, offset: at }
    }
  }
  const ship = (): void => {
    const name = `${file}-wal`
    const log = existsSync(name) ? readFileSync(name) : Buffer.alloc(0)
    if (log.length < headerBytes) return
    const salts = log.toString('hex', 16, 24)
    if (salts !== place.salts) {
      if (!mayBeginAnew) gaps++
      place = { salts, offset: headerBytes }
    }
    mayBeginAnew = false
    takeFrames(log)
  }
  // A reader keeps others from beginning the log anew.
  const beginReading = () => {
    database?.exec('begin')
    database?.prepare('select count(*) from sqlite_schema').get()
  }
  const open = () => {
    database = new DatabaseSync(file, { timeout: longest })
    database.exec('pragma wal_autocheckpoint = 0')
    beginReading()
  }
  const close = () => {
    database?.close()
    database = undefined
  }
  /** Copies what is new, and empties the log. */
  const checkpoint = () => {
    database?.exec('rollback')
    ship()
    database?.prepare('pragma wal_checkpoint(truncate)').get()
    mayBeginAnew = true
    beginReading()
  }
  /** Writes the store as it was copied to a file. */
  const restore = (target: string) =>
    writeFileSync(
      target,
      Buffer.concat(
        Array.from({ length: count }, (_, at) => pages.get(at + 1) ?? Buffer.alloc(pageSize)),
      ),
    )
  return { open, close, ship, checkpoint, restore, gaps: () => gaps }
}
