/** Rows as CSV files, out and in. */
import Papa from 'papaparse'
import { useDataProvider, useNotify, useRefresh } from 'ra-core'
import { useRef, useState } from 'react'
import { faultsOf, type Json, newKey } from './api.ts'
import type { DuetProvider, Filter, Order } from './data-provider.ts'
import { type Entity, type Field, isNumber, type Row } from './model.ts'
import { Button, Dialog, forgetFile } from './ui.tsx'
import { numbers, t } from './words.ts'

/** A text that a spreadsheet would run as a formula, also behind the marks that guard one: the same as for `duet export`. */
const formula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/** Saves all rows that fit, at most 100,000, as CSV; gives their number. */
export const exportRows = async (
  provider: DuetProvider,
  entity: Entity,
  filter: Filter,
  sort: Order,
): Promise<number> => {
  const rows: Row[] = []
  for (let page = 1; rows.length < 100_000; page++) {
    const answer = await provider.getList<Row>(entity.name, {
      pagination: { page, perPage: 100 },
      sort,
      filter,
    })
    rows.push(...answer.data)
    if (answer.data.length < 100) break
  }
  const names = entity.fields.filter(({ hidden }) => !hidden).map(({ name }) => name)
  const cell = (value: unknown) =>
    typeof value === 'object' && value !== null ? JSON.stringify(value) : value
  const data = rows.map(row => names.map(name => cell(row[name])))
  const csv = Papa.unparse({ fields: names, data }, { escapeFormulae: formula })
  const address = URL.createObjectURL(new Blob(['\ufeff', csv], { type: 'text/csv' }))
  const link = Object.assign(document.createElement('a'), {
    href: address,
    download: `${entity.name}.csv`,
  })
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
  return rows.length
}

/** The text of a file; what is no UTF-8 is what spreadsheets write on Windows. */
const textOf = async (file: File): Promise<string> => {
  const bytes = await file.arrayBuffer()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** A value of a cell; `isOwn` says that numbers are written as the browser's language does. */
const typed = (field: Field, given: string, isOwn: boolean): unknown => {
  // The mark of a guarded text is taken off.
  const text = given.startsWith("'") && formula.test(given) ? given.slice(1) : given
  if (text === '') return field.nullable ? null : undefined
  if (isNumber(field) || field.kind === 'reference') {
    const value = (isOwn ? numbers.read(text) : undefined) ?? Number(text)
    return Number.isNaN(value) ? text : value
  }
  // What is neither stays as it is, for the service to refuse.
  if (field.kind === 'flag')
    return /^(true|yes|1)$/i.test(text) || (/^(false|no|0)$/i.test(text) ? false : text)
  if (field.kind === 'list' || field.kind === 'json') {
    try {
      return JSON.parse(text)
    } catch {
      return field.kind === 'list' ? text.split(',') : text
    }
  }
  return text
}

/** How long a service remembers what was sent under a key, less an hour, in milliseconds. */
const remembered = 23 * 3_600_000

/** The key of an import, the same for a file of the same name until all of it is there, also once it was mended or the page was closed. */
const keyFor = ({ name }: Entity, file: File) => {
  const place = `duet.import ${name} ${file.name}`
  const [kept = '', since = 0] = JSON.parse(localStorage.getItem(place) ?? '[]')
  const key: string = Date.now() - since < remembered ? kept : newKey()
  if (key !== kept) localStorage.setItem(place, JSON.stringify([key, Date.now()]))
  return { key, forget: () => localStorage.removeItem(place) }
}

/** The most faults that are listed. */
const mostShown = 50

export const ImportDialog = ({ entity, onClose }: { entity: Entity; onClose: () => void }) => {
  const provider = useDataProvider<DuetProvider>()
  const notify = useNotify()
  const refresh = useRefresh()
  const [file, setFile] = useState<{ rows: Json[]; unknown: string[] }>()
  const [faults, setFaults] = useState<{ line: string; message: string }[]>([])
  const [done, setDone] = useState<number>()
  // The same rows sent again are made once.
  const kept = useRef({ key: '', forget: () => {} })
  const fields = entity.fields.filter(({ set }) => set !== 'never')
  const choose = async (given: File | undefined) => {
    if (!given) return
    const { data, meta } = Papa.parse<Record<string, string>>(await textOf(given), {
      ...{ header: true, skipEmptyLines: true },
    })
    const known = (name: string) =>
      fields.find(one => one.name === name || one.label.toLowerCase() === name.toLowerCase())
    // Spreadsheets put semicolons where commas are in numbers.
    const isOwn = meta.delimiter === ';'
    setFaults([])
    setDone(undefined)
    kept.current = keyFor(entity, given)
    setFile({
      unknown: (meta.fields ?? []).filter(name => !known(name)),
      rows: data.map(row =>
        Object.fromEntries(
          Object.entries(row).flatMap(([name, text]) => {
            const field = known(name)
            const value = field && typed(field, String(text), isOwn)
            return field && value !== undefined ? [[field.name, value]] : []
          }),
        ),
      ),
    })
  }
  const [isBusy, setBusy] = useState(false)
  /** Sends the rows in chunks, and gives their faults: a trial those of all chunks, else those of the first that has any. */
  const send = async (rows: Json[], dryRun: boolean): Promise<typeof faults> => {
    const found: typeof faults = []
    for (let at = 0; at < rows.length && (dryRun || found.length === 0); at += 1000)
      try {
        const chunk = rows.slice(at, at + 1000)
        const trial = dryRun ? '-dry' : ''
        await provider.createRows(entity.name, chunk, `${kept.current.key}-${at}${trial}`, dryRun)
        if (!dryRun) setDone(Math.min(rows.length, at + 1000))
      } catch (error) {
        const { made } = error as { made?: number }
        if (made) setDone(at + made)
        const told = faultsOf(error).map(({ field, message }) => {
          const [, row, ...rest] = made === undefined ? field.split('.') : ['', made, field]
          return {
            line: t('Row {number}', { number: at + Number(row) + 2 }),
            message: `${rest.join('.')} ${message}`,
          }
        })
        const whole = { line: t('Rows from {number}', { number: at + (made ?? 0) + 2 }) }
        found.push(...(told.length ? told : [{ ...whole, message: (error as Error).message }]))
        // What is no fault of the rows will meet the next ones, too.
        if (told.length === 0) break
      }
    return found
  }
  const run = async () => {
    const { rows = [] } = file ?? {}
    setFaults([])
    setBusy(true)
    // All of the file is tried first, so that none of it is there unless all can be; that is one look more, and no more than a look.
    const found = entity.bulk.includes('create') && done === undefined ? await send(rows, true) : []
    const all = found.length > 0 ? found : await send(rows, false)
    setBusy(false)
    setFaults(all)
    if (all.length > 0) return
    kept.current.forget()
    notify(t('{count} rows imported', { count: rows.length }), { type: 'success' })
    refresh()
    onClose()
  }
  return (
    <Dialog title={t('Import: {label}', { label: entity.labels })} onClose={onClose}>
      <div className="stack">
        <p>
          {t('A CSV file whose first line names the fields: {names}.', {
            names: fields.map(({ name, required }) => (required ? `${name}*` : name)).join(', '),
          })}{' '}
          {t('Those with * are needed.')}
        </p>
        <label>
          {t('File')}
          <input
            type="file"
            accept=".csv,text/csv"
            className="input"
            onClick={forgetFile}
            onChange={event => choose(event.target.files?.[0])}
          />
        </label>
        {file && (
          <p>
            {[
              t('{count} rows', { count: file.rows.length }),
              ...(file.unknown.length > 0
                ? [t('left out: {names}', { names: file.unknown.join(', ') })]
                : []),
              ...(done === undefined ? [] : [t('{count} rows imported', { count: done })]),
            ].join('; ')}
          </p>
        )}
        {faults.length > 0 && (
          <table className="table faults">
            <caption role="alert">
              {t('Faults: {count}.', { count: faults.length })}{' '}
              {done === undefined
                ? t('Nothing is imported. Once they are mended, choose the file again.')
                : t(
                    'The rows before are there. Once these are mended, choose the file again under the same name: rows that are unchanged are not made again, even if you delete them here. To begin anew, give the file another name.',
                  )}
            </caption>
            <thead>
              <tr>
                <th scope="col">{t('Where')}</th>
                <th scope="col">{t('Fault')}</th>
              </tr>
            </thead>
            <tbody>
              {faults.slice(0, mostShown).map(({ line, message }) => (
                <tr key={line + message}>
                  <td>{line}</td>
                  <td>{message}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <div className="dialog-actions">
          <Button tone="main" disabled={!file?.rows.length || isBusy} onClick={run}>
            {isBusy ? t('Importing…') : t('Import')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
