/** `duet export`: the rows of a kind as a file that `import` reads. */

import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { OpenStore } from '#cli/content.ts'
import { progress } from '#cli/progress.ts'
import { modelFor, openForReading, storeOf } from '#cli/store.ts'
import { writers } from '#cli/transfer/format.ts'
import { type Format, formatOf, kindOf, kindsOf } from '#cli/transfer/kinds.ts'
import { pagesOf } from '#cli/transfer/pages.ts'
import { type CliCommand, readArgs, UsageError } from '#cli/usage.ts'
import { loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { putInPlace } from '#engines/files.ts'
import type { Model } from '#model/model.ts'

const help = (content: Content): string => `Usage: duet export KIND [FILE] [--format ndjson|csv]

Writes all rows of KIND (${Object.keys(kindsOf(content)).join(', ')})
in the order of their ids, as import reads them: to FILE, in the format that its ending
names (.ndjson or .csv), or as NDJSON to standard output. A FILE that is there is replaced
when the new one is whole. The rows are those of one moment; the server may run meanwhile.
To move a store, import the kinds in the order above. For a copy of everything
there is backup.`

const isFormat = (text: string): text is Format => Object.hasOwn(writers, text)

const asked = (args: readonly string[], content: Content) => {
  const { values, positionals } = readArgs(args, { format: { type: 'string' } }, 2)
  const [plural = '', file] = positionals
  const kind = kindOf(content, plural)
  const format = values.format ?? (file === undefined ? 'ndjson' : formatOf(file))
  if (format === undefined)
    throw new UsageError(`${file} must end in .ndjson or .csv, or --format must be given`)
  if (!isFormat(format)) throw new UsageError(`--format must be ndjson or csv, not ${format}`)
  return { plural, kind, file, format }
}

/** False where whoever reads standard output had enough before the end. */
const toStandardOutput = async (texts: Readable): Promise<boolean> => {
  try {
    await pipeline(texts, process.stdout, { end: false })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    return false
  }
}

type Asked = ReturnType<typeof asked>

/** Writes the rows as they are at the moment of the transaction that this runs in. */
const write = async (line: OpenStore, model: Model, asked: Asked): Promise<void> => {
  const { plural, kind, file, format } = asked
  const { header, count, pages } = await pagesOf(line, model, kind)
  const writer = writers[format]
  const shown = progress(`exporting ${plural}`, count)
  const texts = async function* () {
    yield writer.head(header)
    for await (const rows of pages()) {
      yield rows.map(row => writer.row(header, row)).join('')
      shown.step(rows.length)
    }
  }
  const stream = Readable.from(texts(), { objectMode: false })
  if (file !== undefined) await putInPlace(file, part => pipeline(stream, createWriteStream(part)))
  else if (!(await toStandardOutput(stream))) return
  shown.done()
  const told = file === undefined ? process.stderr : process.stdout
  told.write(`exported ${count} ${plural}\n`)
}

const run = async (args: readonly string[], content: Content): Promise<void> => {
  const task = asked(args, content)
  const config = loadConfig(process.env, content.settings)
  const model = modelFor(config, content)
  const line = await openForReading(await storeOf(config, content.migrations))
  try {
    await line.session.transaction(() => write(line, model, task))
  } finally {
    await line.session.close()
  }
}

export const exportRows: CliCommand = { help, run }
