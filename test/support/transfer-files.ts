/** Files to import and export. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Format = 'ndjson' | 'csv'

/** Names for files in a folder, and files of a text, of bytes, or of rows as NDJSON. */
export const filesIn = (folder: string) => {
  let files = 0
  const nameFor = (ending: string) => join(folder, `file-${++files}.${ending}`)
  const fileOf = (
    content: string | Uint8Array | readonly object[],
    ending: Format = 'ndjson',
  ): string => {
    const path = nameFor(ending)
    const isText = typeof content === 'string' || content instanceof Uint8Array
    const text = isText ? content : content.map(row => `${JSON.stringify(row)}\n`).join('')
    writeFileSync(path, text)
    return path
  }
  return { nameFor, fileOf }
}
