/** `duet import`: rows of NDJSON or CSV, checked by the rules of the API, stored with their ids and times. */
import { statSync } from 'node:fs'
import { readArgs, UsageError } from '#cli/arguments.ts'
import { filesOfSettings } from '#cli/files.ts'
import { progress } from '#cli/terminal.ts'
import { hasFiles, importing } from '#cli/transfer/files.ts'
import { rowsIn } from '#cli/transfer/format.ts'
import { embeddedIn, formatOf, kindOf, kindsOf, renaming } from '#cli/transfer/kinds.ts'
import { type Putting, plainRows } from '#cli/transfer/rows-in.ts'
import type { Content, ContentStore, TransferKind } from '#content.ts'
import type { FieldFault } from '#errors.ts'
import type { Entity } from '#model/entity.ts'
import { entityOf } from '#model/model.ts'
import { anonymous } from '#model/policy.ts'
import { withStore } from '#serve/store.ts'
import { checkInput, type InputContext } from '#write/input.ts'

export const help = (content: Content): string => {
  const kinds = kindsOf(content)
  const own = Object.values(kinds).flatMap(({ help }) => help ?? [])
  return `Usage: duet import KIND FILE [--skip-bad] [--raw]

Reads rows of KIND (${Object.keys(kinds).join(', ')})
from a .ndjson or .csv file: members as in a REST create body, plus id and timestamps,
which are kept. Every row is checked by the same rules. One bad row and nothing is kept,
unless --skip-bad leaves out the bad ones and keeps the rest. What export writes can be
imported; the kinds in the order above, so that what rows refer to is there. A file of a
row is named by its path from FILE on, as in "cover": "pictures/soup.png". --raw reads
the texts of CSV as they are, as export --raw writes them.${
    own.length > 0 ? `\n\n${own.join('\n')}` : ''
  }`
}

const shownFaults = 20

/** The faults of a header that each row would have, if there were one: names of no members, and none for a member that is needed. */
const headerFaults = (
  kind: TransferKind,
  entity: Entity,
  rename: ReturnType<typeof renaming>['rename'],
  use: InputContext,
  header: readonly string[],
): readonly FieldFault[] => {
  const { row, faults } = rename(Object.fromEntries(header.map(name => [name, null])))
  const own = Object.entries(row).filter(([name]) => !Object.hasOwn(embeddedIn(kind, entity), name))
  const ofRow = checkInput(entity, Object.fromEntries(own), use).faults.filter(
    ({ message }) =>
      message.startsWith('is not a member') || (!kind.rows && message === 'is required'),
  )
  return [...faults, ...ofRow]
}

export const run = async (args: readonly string[], content: Content): Promise<void> => {
  const options = { 'skip-bad': { type: 'boolean' }, raw: { type: 'boolean' } } as const
  const { values, positionals } = readArgs(args, options, 2)
  const [plural = '', file = ''] = positionals
  const kind = kindOf(content, plural)
  if (content.entities[kind.entity]?.view)
    throw new UsageError(`${plural} are a view of other rows: import those`)
  if (file === '') throw new UsageError('FILE is missing: duet import KIND FILE')
  const format = formatOf(file)
  if (!format) throw new UsageError(`${file} must end in .ndjson or .csv`)
  const found = statSync(file)
  if (!found.isFile()) throw new Error(`${file} is not a file`)
  // An empty file is NDJSON without rows, but CSV needs a header.
  if (format === 'csv' && found.size === 0) throw new Error(`${file} is empty`)
  const { rename, notice } = renaming(kind)
  let imported = 0
  let leftOut = 0
  const rowsOf = (entity: Entity) => rowsIn(file, format, kind, entity, values.raw === true)
  /** Takes the files of the rows in, for whose pictures no writer is to wait; gives rows with them. */
  const filesIn = async (store: ContentStore) => {
    const entity = entityOf(store.model, kind.entity)
    const files = hasFiles(store.model, kind) ? filesOfSettings(content) : undefined
    const withFiles = importing(files, store, entity, file)
    if (files) for await (const { row } of rowsOf(entity)) if (row) await withFiles(rename(row).row)
    return withFiles
  }
  /** Puts the rows of the file in; throws if it has faults and nothing may be left out. */
  const fill = async (store: ContentStore, withFiles: ReturnType<typeof importing>) => {
    const { model, session } = store
    const entity = entityOf(model, kind.entity)
    const { entity: what, also } = kind
    const use = { mode: 'import', viewer: anonymous, model, now: Date.now(), what, also } as const
    const { put, settle }: Putting = kind.rows
      ? { put: kind.rows(store, use), settle: async () => [] }
      : plainRows(store, entity, use)
    let bad = 0
    const tell = (line: number, message: string) => {
      bad++
      if (bad <= shownFaults) process.stderr.write(`${file}:${line}: ${message}\n`)
    }
    const tellAll = (line: number, faults: readonly FieldFault[]) => {
      for (const { field, message } of faults) tell(line, `${field} ${message}`)
    }
    const shown = progress(`importing ${plural}`)
    for await (const { line, row: given, fault, header } of rowsOf(entity)) {
      if (header) {
        tellAll(line, headerFaults(kind, entity, rename, use, header))
        continue
      }
      const { row: renamed, faults: ofNames } = rename(given ?? {})
      const { row, faults: ofFiles } = await withFiles(renamed)
      const early = [...ofNames, ...ofFiles]
      const faults = given && early.length === 0 ? await put(row, line) : early
      tellAll(line, faults)
      if (fault !== undefined) tell(line, fault)
      if (faults.length === 0 && fault === undefined) imported++
      else leftOut++
      shown.step()
    }
    const late = await settle()
    for (const { line, faults } of late) tellAll(line, faults)
    imported -= late.length
    leftOut += late.length
    shown.done()
    if (bad > shownFaults) process.stderr.write(`… and ${bad - shownFaults} more faults\n`)
    if (bad > 0 && !values['skip-bad'])
      throw new Error(
        `nothing was imported: ${file} has ${bad} ${bad === 1 ? 'fault' : 'faults'}; correct them, or leave those rows out with --skip-bad`,
      )
    await session.settleIds([entity.table])
  }
  await withStore(content, 'filling', async store => {
    const withFiles = await filesIn(store)
    await store.session.transaction(() => fill(store, withFiles))
  })
  const said = notice()
  if (said !== undefined) process.stderr.write(`${file}: ${said}\n`)
  process.stdout.write(
    `imported ${imported} ${plural}${leftOut > 0 ? `, left out ${leftOut}` : ''}\n`,
  )
}
