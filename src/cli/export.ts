/** `duet export`: the rows of a kind as a file that `import` reads. */
import { createWriteStream, existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { filesOfSettings, refuseOwn } from '#cli/files.ts'
import { goOnWithout, progress } from '#cli/terminal.ts'
import { exporting, hasFiles } from '#cli/transfer/files.ts'
import { rawCsv, writers } from '#cli/transfer/format.ts'
import { formatOf, kindOf, kindsOf } from '#cli/transfer/kinds.ts'
import { pagesOf } from '#cli/transfer/rows-out.ts'
import type { Content, ContentStore } from '#content.ts'
import { ownFile, replaceFile } from '#engines/shared/files.ts'
import { entityOf } from '#model/model.ts'
import { withStore } from '#serve/store.ts'

export const help = (
  content: Content,
): string => `Usage: duet export KIND [FILE] [--format ndjson|csv] [--raw]

Writes all rows of KIND (${Object.keys(kindsOf(content)).join(', ')})
in the order of their ids, as import reads them: to FILE, in the format that its ending
names (.ndjson or .csv), or as NDJSON to standard output. A FILE that is there is replaced
when the new one is whole. In CSV a text that a spreadsheet would run, such as =1+1, begins
with ', which import takes off again; --raw leaves such texts as they are. The rows are those of one moment; the server may run meanwhile.
Files of rows are put into a folder beside FILE, such as recipes.files.
To move a store, import the kinds in the order above. For a copy of everything
there is backup.`

/** Writes texts to standard output; false if its reader stopped before the end. */
const toStandardOutput = async (texts: Readable): Promise<boolean> => {
  // The pipeline tells what is lost.
  goOnWithout(process.stdout)
  try {
    await pipeline(texts, process.stdout, { end: false })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    return false
  }
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const options = { format: { type: 'string' }, raw: { type: 'boolean' } } as const
  const { values, positionals } = readArgs(args, options, 2)
  const [plural = '', file] = positionals
  const kind = kindOf(content, plural)
  const format = values.format ?? (file === undefined ? 'ndjson' : formatOf(file))
  if (format === undefined)
    throw new UsageError(`${file} must end in .ndjson or .csv, or --format must be given`)
  if (format !== 'ndjson' && format !== 'csv')
    throw new UsageError(`--format must be ndjson or csv, not ${format}`)
  if (values.raw && format !== 'csv')
    throw new UsageError('--raw is for CSV: leave it out, or give --format csv')
  if (file !== undefined) refuseOwn(content, file)
  const writer = values.raw ? rawCsv : writers[format]
  const write = async (store: ContentStore): Promise<void> => {
    const entity = entityOf(store.model, kind.entity)
    const files = hasFiles(store.model, kind) ? filesOfSettings(content) : undefined
    if (file === undefined && files)
      throw new UsageError(`${plural} have files: name a FILE, beside which they are put`)
    const withFiles = exporting(files, store.model, entity, file ?? '')
    const { header, count, pages } = await pagesOf(store, kind)
    const shown = progress(`exporting ${plural}`, count)
    const texts = async function* () {
      yield writer.head(header)
      for await (const rows of pages()) {
        let text = ''
        for (const row of rows) text += writer.row(await withFiles(row))
        yield text
        shown.step(rows.length)
      }
    }
    const stream = Readable.from(texts(), { objectMode: false })
    if (file !== undefined)
      await replaceFile(
        file,
        part => pipeline(stream, createWriteStream(part)),
        // Who may read a file that is there may read its next rows.
        existsSync(file) ? {} : { mode: ownFile },
      )
    else if (!(await toStandardOutput(stream))) return
    shown.done()
    const messages = file === undefined ? process.stderr : process.stdout
    messages.write(`exported ${count} ${plural}\n`)
  }
  // The rows as they are at the moment of the transaction.
  await withStore(content, 'reading', store => store.session.transaction(() => write(store)))
}
