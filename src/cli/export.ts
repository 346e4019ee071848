/** `duet export`: the rows of a kind as a file that `import` reads. */
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { progress } from '#cli/progress.ts'
import { modelOf, openForReading } from '#cli/store.ts'
import { writers } from '#cli/transfer/format.ts'
import { type Format, formatOf, kindOf, kinds } from '#cli/transfer/kinds.ts'
import { pagesOf } from '#cli/transfer/pages.ts'
import { type CliCommand, readArgs, UsageError } from '#cli/usage.ts'
import { loadConfig } from '#config.ts'
import { putInPlace } from '#engines/sqlite/files.ts'

const help = `Usage: duet export KIND [FILE] [--format ndjson|csv]

Writes all rows of KIND (${Object.keys(kinds).join(', ')})
in the order of their ids, as import reads them: to FILE, in the format that its ending
names (.ndjson or .csv), or as NDJSON to standard output. A FILE that is there is replaced
when the new one is whole. The rows are those of one moment; the server may run meanwhile.
To move a store, import the kinds in the order above. For a copy of everything, avatars
and the record of orders included, there is backup.`

const isFormat = (text: string): text is Format => Object.hasOwn(writers, text)

const asked = (args: readonly string[]) => {
  const { values, positionals } = readArgs(args, { format: { type: 'string' } }, 2)
  const [plural = '', file] = positionals
  const kind = kindOf(plural)
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

const run = async (args: readonly string[]): Promise<void> => {
  const { plural, kind, file, format } = asked(args)
  const config = loadConfig(process.env)
  const model = modelOf(config)
  const connection = openForReading(config)
  try {
    connection.run('begin')
    const { header, count, pages } = pagesOf(connection, model, kind)
    const writer = writers[format]
    const shown = progress(`exporting ${plural}`, count)
    const texts = function* () {
      yield writer.head(header)
      for (const rows of pages()) {
        yield rows.map(row => writer.row(header, row)).join('')
        shown.step(rows.length)
      }
    }
    const stream = Readable.from(texts(), { objectMode: false })
    if (file !== undefined)
      await putInPlace(file, part => pipeline(stream, createWriteStream(part)))
    else if (!(await toStandardOutput(stream))) return
    shown.done()
    const told = file === undefined ? process.stderr : process.stdout
    told.write(`exported ${count} ${plural}\n`)
  } finally {
    connection.close()
  }
}

export const exportRows: CliCommand = {
  name: 'export',
  about: 'write rows as NDJSON or CSV',
  help,
  run,
}
