/** `duet import`: rows of NDJSON or CSV, checked by the rules of the API, stored with their ids and times. */
import { statSync } from 'node:fs'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { progress } from '#cli/progress.ts'
import type { ContentStore, InputRow, Kind } from '#cli/row-sources.ts'
import { withStore } from '#cli/store.ts'
import { renaming } from '#cli/transfer/foreign.ts'
import { formatOf, kindOf, kindsOf } from '#cli/transfer/kinds.ts'
import { rowsIn } from '#cli/transfer/parse.ts'
import { type Putting, plainRows } from '#cli/transfer/plain-rows.ts'
import type { Content } from '#content.ts'
import type { FieldFault } from '#errors.ts'
import { entityOf } from '#model/model.ts'
import { anonymous } from '#model/policy.ts'

export const help = (content: Content): string => {
  const kinds = kindsOf(content)
  const own = Object.values(kinds).flatMap(({ help }) => help ?? [])
  return `Usage: duet import KIND FILE [--skip-bad] [--raw]

Reads rows of KIND (${Object.keys(kinds).join(', ')})
from a .ndjson or .csv file: members as in a REST create body, plus id and timestamps,
which are kept. Every row is checked by the same rules. One bad row and nothing is kept,
unless --skip-bad leaves out the bad ones and keeps the rest. What export writes can be
imported; the kinds in the order above, so that what rows refer to is there. --raw reads
the texts of CSV as they are, as export --raw writes them.${
    own.length > 0 ? `\n\n${own.join('\n')}` : ''
  }`
}

const shownFaults = 20

/** The task of a command line, checked before anything is opened. */
const taskOf = (args: readonly string[], content: Content) => {
  const { values, positionals } = readArgs(
    args,
    { 'skip-bad': { type: 'boolean' }, raw: { type: 'boolean' } },
    2,
  )
  const [plural = '', file = ''] = positionals
  const kind = kindOf(content, plural)
  if (file === '') throw new UsageError('FILE is missing: duet import KIND FILE')
  const format = formatOf(file)
  if (!format) throw new UsageError(`${file} must end in .ndjson or .csv`)
  const found = statSync(file)
  if (!found.isFile()) throw new Error(`${file} is not a file`)
  // An empty file is NDJSON without rows, but CSV needs a header.
  if (format === 'csv' && found.size === 0) throw new Error(`${file} is empty`)
  const skipsBad = values['skip-bad'] === true
  return { plural, kind, file, format, skipsBad, isRaw: values.raw === true }
}

/** Prints the first faults by line and member, and counts all. */
const faultList = (file: string) => {
  let count = 0
  const add = (line: number, message: string) => {
    count++
    if (count <= shownFaults) process.stderr.write(`${file}:${line}: ${message}\n`)
  }
  const end = (): number => {
    if (count > shownFaults) process.stderr.write(`… and ${count - shownFaults} more faults\n`)
    return count
  }
  return { add, end }
}

type Task = ReturnType<typeof taskOf>

/** How the rows of a file are put in. */
const puttingFor = (store: ContentStore, kind: Kind): Putting => {
  const use = {
    mode: 'import',
    viewer: anonymous,
    model: store.model,
    now: Date.now(),
    what: kind.entity,
    also: kind.also,
  } as const
  if (kind.rows) return { put: kind.rows(store, use), settle: async () => [] }
  return plainRows(store, entityOf(store.model, kind.entity), use)
}

/** Puts the rows of the file in; throws where it has faults and nothing may be left out. */
const fill = async (store: ContentStore, { plural, kind, file, format, skipsBad, isRaw }: Task) => {
  const entity = entityOf(store.model, kind.entity)
  const { put, settle } = puttingFor(store, kind)
  const { rename, notice } = renaming(kind)
  const faultsOf = async (given: InputRow, line: number) => {
    const { row, faults } = rename(given)
    return faults.length > 0 ? faults : put(row, line)
  }
  const list = faultList(file)
  const tell = (line: number, faults: readonly FieldFault[]) => {
    for (const { field, message } of faults) list.add(line, `${field} ${message}`)
  }
  const shown = progress(`importing ${plural}`)
  let imported = 0
  let leftOut = 0
  for await (const { line, row, fault } of rowsIn(file, format, kind, entity, isRaw)) {
    const faults = row ? await faultsOf(row, line) : []
    tell(line, faults)
    if (fault !== undefined) list.add(line, fault)
    if (faults.length === 0 && fault === undefined) imported++
    else leftOut++
    shown.step()
  }
  const late = await settle()
  for (const { line, faults } of late) tell(line, faults)
  shown.done()
  const bad = list.end()
  if (bad > 0 && !skipsBad)
    throw new Error(
      `nothing was imported: ${file} has ${bad} ${bad === 1 ? 'fault' : 'faults'}; correct them, or leave those rows out with --skip-bad`,
    )
  await store.session.settleIds([entity.table])
  return {
    imported: imported - late.length,
    leftOut: leftOut + late.length,
    notice: notice(),
  }
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const task = taskOf(args, content)
  const { imported, leftOut, notice } = await withStore(content, 'filling', store =>
    store.session.transaction(() => fill(store, task)),
  )
  if (notice !== undefined) process.stderr.write(`${task.file}: ${notice}\n`)
  process.stdout.write(
    `imported ${imported} ${task.plural}${leftOut > 0 ? `, left out ${leftOut}` : ''}\n`,
  )
}
