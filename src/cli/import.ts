/** `duet import`: rows of NDJSON or CSV, checked by the rules of the API, kept with their ids and times. */
import { createReadStream, statSync } from 'node:fs'
import { Readable } from 'node:stream'
import { CsvError, parse as parseCsv } from 'csv-parse'
import { inserter } from '#cli/fill.ts'
import { progress } from '#cli/progress.ts'
import { modelOf, openForFilling } from '#cli/store.ts'
import { type CliCommand, readArgs, UsageError } from '#cli/usage.ts'
import { loadConfig } from '#config.ts'
import type { Connection } from '#engines/sqlite/connection.ts'
import type { FieldFault } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf, type Model } from '#model/model.ts'
import { anonymous } from '#model/viewer.ts'
import type { Scalar } from '#sql/dialect.ts'
import { ConstraintError } from '#sql/engine.ts'
import { checkInput, type Values } from '#write/input.ts'

const kinds: Readonly<Record<string, string>> = {
  users: 'user',
  posts: 'post',
  comments: 'comment',
  products: 'product',
}

const help = `Usage: duet import KIND FILE [--skip-bad]

Reads rows of KIND (${Object.keys(kinds).join(', ')}) from a .ndjson or .csv file: members as in
a REST create body, plus id and timestamps, which are kept. Every row is checked by
the same rules. One bad row and nothing is kept, unless --skip-bad leaves out the
bad ones and keeps the rest.`

/** One row of a file with the line it stands in. */
type Line = {
  readonly line: number
  readonly row?: Readonly<Record<string, unknown>>
  readonly fault?: string
}

/** The text of a file in pieces, a byte order mark left out; throws where it is not UTF-8. */
const textOf = async function* (file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of createReadStream(file)) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new Error(`${file} is not UTF-8; nothing was imported`, { cause })
  }
}

const linesOf = async function* (file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const text of textOf(file)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

const fromNdjson = async function* (file: string): AsyncGenerator<Line> {
  let line = 0
  for await (const text of linesOf(file)) {
    line++
    if (text.trim() === '') continue
    try {
      const row: unknown = JSON.parse(text)
      if (typeof row !== 'object' || row === null || Array.isArray(row))
        yield { line, fault: 'is no JSON object' }
      else yield { line, row: row as Readonly<Record<string, unknown>> }
    } catch (error) {
      yield { line, fault: `is not JSON: ${(error as Error).message}` }
    }
  }
}

const number = (text: string): unknown => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text)
const typed = {
  id: number,
  int: number,
  money: number,
  text: (text: string) => text,
  time: (text: string) => text,
  flag: (text: string) => (text === 'true' ? true : text === 'false' ? false : text),
  bytes: (text: string) => text,
} satisfies Record<Scalar, (text: string) => unknown>

/** A CSV cell is text; an empty one is not given. */
const typedRow = (entity: Entity, header: readonly string[], cells: readonly string[]) =>
  Object.fromEntries(
    header.flatMap((key, index) => {
      const text = cells[index] ?? ''
      const field =
        entity.fields[key] ?? Object.values(entity.fields).find(({ nameInV1 }) => nameInV1 === key)
      return text === '' ? [] : [[key, field ? typed[field.scalar](text) : text]]
    }),
  )

type CsvRecord = { readonly record: readonly string[]; readonly info: { readonly lines: number } }

const recordsOf = async function* (file: string): AsyncGenerator<CsvRecord> {
  const parser = parseCsv({
    info: true,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
  })
  try {
    yield* Readable.from(textOf(file)).compose(parser) as AsyncIterable<CsvRecord>
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause
    // With its quotes wrong, nobody knows where the next row begins.
    throw new Error(
      `${file}:${cause.lines}: is not CSV, so the rest cannot be read: ${cause.message}`,
      { cause },
    )
  }
}

const fromCsv = async function* (file: string, entity: Entity): AsyncGenerator<Line> {
  let header: readonly string[] | undefined
  let counted = 0
  for await (const { record, info } of recordsOf(file)) {
    if (!header) {
      const twice = record.find((name, index) => record.indexOf(name) < index)
      if (twice !== undefined) throw new Error(`${file}: the header names ${twice} twice`)
      header = record
      continue
    }
    const text = record.join('\0')
    // csv-parse counts a CRLF inside quotes as two lines, and a row's last line as its own.
    counted += text.split('\r\n').length - 1
    const line = info.lines - counted - (text.split(/\r\n|\r|\n/).length - 1)
    if (record.length === header.length) yield { line, row: typedRow(entity, header, record) }
    else yield { line, fault: `has ${record.length} values, the header names ${header.length}` }
  }
}

/** What is wrong with a row that refers to something: that must be there. */
const dangling = (
  connection: Connection,
  model: Model,
  entity: Entity,
  values: Values,
): readonly FieldFault[] =>
  [...values].flatMap(([key, value]) => {
    const { references } = entity.fields[key] ?? {}
    if (!references || value === null) return []
    const { table } = entityOf(model, references.entity)
    const found = connection.query({
      text: `select 1 from "${table}" where id = ?1`,
      values: [value],
    })
    return found.length > 0
      ? []
      : [{ field: key, message: `names ${references.entity} ${value}, which does not exist` }]
  })

const taken = (error: ConstraintError, entity: Entity): FieldFault => {
  const column = error.target.split('.')[1] ?? ''
  const field =
    Object.keys(entity.fields).find(key => key.toLowerCase() === column.replaceAll('_', '')) ??
    column
  const shown = entity.fields[field]?.foldedFrom ?? field
  return {
    field: shown,
    message: error.kind === 'unique' ? 'is in use already' : 'is out of range',
  }
}

const shownFaults = 20

const run = async (args: readonly string[]): Promise<void> => {
  const { values: options, positionals } = readArgs(args, { 'skip-bad': { type: 'boolean' } }, 2)
  const [kind = '', file = ''] = positionals
  const name = kinds[kind]
  if (name === undefined)
    throw new UsageError(
      `KIND must be one of ${Object.keys(kinds).join(', ')}, not ${kind || 'nothing'}`,
    )
  if (file === '') throw new UsageError('FILE is missing: duet import KIND FILE')
  const isCsv = file.endsWith('.csv')
  if (!isCsv && !/\.(nd)?jsonl?$/.test(file))
    throw new UsageError(`${file} must end in .ndjson or .csv`)
  const found = statSync(file)
  if (!found.isFile()) throw new Error(`${file} is no file`)
  if (found.size === 0) throw new Error(`${file} is empty`)
  const config = loadConfig(process.env)
  const model = modelOf(config)
  const entity = entityOf(model, name)
  const connection = openForFilling(config)
  const shown = progress(`importing ${kind}`)
  let kept = 0
  let leftOut = 0
  let bad = 0
  const blame = (line: number, message: string) => {
    bad++
    if (bad <= shownFaults) process.stderr.write(`${file}:${line}: ${message}\n`)
  }
  const put = inserter(connection, entity)
  const use = {
    mode: 'import',
    viewer: anonymous,
    settings: model.settings,
    now: Date.now(),
    what: name,
  } as const
  const faultsOf = (row: Readonly<Record<string, unknown>>): readonly FieldFault[] => {
    const { values, faults } = checkInput(entity, row, use)
    if (faults.length > 0) return faults
    const missing = dangling(connection, model, entity, values)
    if (missing.length > 0) return missing
    try {
      put(values)
      return []
    } catch (error) {
      if (error instanceof ConstraintError) return [taken(error, entity)]
      throw error
    }
  }
  try {
    connection.run('begin immediate')
    for await (const { line, row, fault } of isCsv ? fromCsv(file, entity) : fromNdjson(file)) {
      const faults = row ? faultsOf(row) : []
      for (const { field, message } of faults) blame(line, `${field} ${message}`)
      if (fault !== undefined) blame(line, fault)
      if (faults.length === 0 && fault === undefined) kept++
      else leftOut++
      shown.step()
    }
    shown.done()
    if (bad > shownFaults) process.stderr.write(`… and ${bad - shownFaults} more faults\n`)
    if (bad > 0 && !options['skip-bad']) {
      connection.run('rollback')
      throw new Error(
        `nothing was imported: ${file} has ${bad} ${bad === 1 ? 'fault' : 'faults'}; mend them, or leave those rows out with --skip-bad`,
      )
    }
    connection.run('commit')
    process.stdout.write(`imported ${kept} ${kind}${leftOut > 0 ? `, left out ${leftOut}` : ''}\n`)
  } finally {
    connection.close()
  }
}

export const importRows: CliCommand = {
  name: 'import',
  about: 'read rows from NDJSON or CSV',
  help,
  run,
}
