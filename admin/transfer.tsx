/** Rows as CSV files, out and in. */
import { type HttpError, useDataProvider, useNotify, useRefresh } from 'ra-core'
import { useRef, useState } from 'react'
import { faultsOf, type Json, newKey } from './api.ts'
import { csvOf, importedOf, rowsOf, textOf } from './csv.ts'
import { type DuetProvider, type Filter, type Order, sumOf } from './data-provider.ts'
import type { Entity, Row } from './model.ts'
import { times } from './show.tsx'
import { Alert, Button, Dialog, forgetFile } from './ui.tsx'
import { t } from './words.ts'

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
  const shown = entity.fields.filter(({ hidden }) => !hidden)
  const csv = csvOf(shown, rows)
  const address = URL.createObjectURL(new Blob(['\ufeff', csv], { type: 'text/csv' }))
  const link = Object.assign(document.createElement('a'), {
    href: address,
    download: `${entity.name}.csv`,
  })
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
  return rows.length
}

/** How long a service remembers what was sent under a key, less an hour, in milliseconds. */
const remembered = 23 * 3_600_000

/** What this browser knows of the import of a file: its key, the same for a file of the same name until all of it is there, also once it was mended or the page was closed; and when all of these rows were imported `before`. */
const memoryOf = ({ name }: Entity, file: File, rows: Json[]) => {
  const place = `duet.import ${name} ${file.name}`
  const [kept = '', since = 0, whole] = JSON.parse(localStorage.getItem(place) ?? '[]')
  const isOpen = whole === undefined && Date.now() - since < remembered
  const key: string = isOpen ? kept : newKey()
  const keep = (...more: string[]) =>
    localStorage.setItem(place, JSON.stringify([key, Date.now(), ...more]))
  return {
    key,
    before: whole === sumOf(rows) ? new Date(since) : undefined,
    begin: () => key === kept || keep(),
    end: () => keep(sumOf(rows)),
  }
}

/** A fault; one that is none of the file `isOpen`, as it may be over when that is sent again. */
type Told = { line: string; message: string; isLost?: boolean; isOpen?: boolean }

/** The most faults that are listed. */
const mostShown = 50

export const ImportDialog = ({ entity, onClose }: { entity: Entity; onClose: () => void }) => {
  const provider = useDataProvider<DuetProvider>()
  const notify = useNotify()
  const refresh = useRefresh()
  const [file, setFile] = useState<ReturnType<typeof rowsOf> & { isGuessed: boolean }>()
  const [faults, setFaults] = useState<Told[]>([])
  const [done, setDone] = useState<number>()
  // The same rows sent again are made once.
  const memory = useRef<ReturnType<typeof memoryOf>>()
  const fields = importedOf(entity)
  const choose = async (given: File | undefined) => {
    if (!given) return
    // The file before is forgotten, whatever comes of this one.
    setFile(undefined)
    setFaults([])
    setDone(undefined)
    try {
      const { text, isGuessed } = textOf(await given.arrayBuffer())
      const read = rowsOf(fields, text)
      memory.current = memoryOf(entity, given, read.rows)
      setFaults(read.faults)
      setFile({ ...read, isGuessed })
    } catch {
      notify(t('The file cannot be read.'), { type: 'error' })
    }
  }
  const [isBusy, setBusy] = useState(false)
  /** Sends the rows in chunks, and gives their faults: a trial those of all chunks, else those of the first that has any. */
  const send = async (rows: Json[], dryRun: boolean): Promise<typeof faults> => {
    const found: typeof faults = []
    for (let at = 0; at < rows.length && (dryRun || found.length === 0); at += 1000)
      try {
        const chunk = rows.slice(at, at + 1000)
        const key = `${memory.current?.key ?? ''}-${at}${dryRun ? '-dry' : ''}`
        await provider.createRows(entity.name, chunk, key, dryRun)
        if (!dryRun) setDone(Math.min(rows.length, at + 1000))
      } catch (error) {
        const { made, status = 0, message } = error as HttpError & { made?: number }
        if (made) setDone(at + made)
        const told = faultsOf(error).map(({ field, message }) => {
          const [, row, ...rest] = made === undefined ? field.split('.') : ['', made, field]
          const value = rows[at + Number(row)]?.[rest.join('.')]
          const given = value === undefined ? '' : ` “${String(value).slice(0, 40)}”`
          return {
            line: t('Line {number}', { number: at + Number(row) + 2 }),
            message: `${rest.join('.')}${given} ${message}`,
          }
        })
        const whole = { line: t('Lines from {number}', { number: at + (made ?? 0) + 2 }) }
        const isLost = !dryRun && told.length === 0 && (status === 0 || status >= 500)
        // From here on it is not said that nothing is there.
        if (isLost) setDone(at + (made ?? 0))
        found.push(...(told.length ? told : [{ ...whole, message, isLost, isOpen: true }]))
        // What is no fault of the rows will meet the next ones, too.
        if (told.length === 0) break
      }
    return found
  }
  const run = async () => {
    const { rows = [] } = file ?? {}
    memory.current?.begin()
    setFaults([])
    setBusy(true)
    // All of the file is tried first, so that none of it is there unless all can be; that is one look more, and no more than a look.
    const found = entity.bulk.includes('create') && done === undefined ? await send(rows, true) : []
    const all = found.length > 0 ? found : await send(rows, false)
    setBusy(false)
    setFaults(all)
    if (all.length > 0) return
    memory.current?.end()
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
            accept=".csv,.txt,.tsv,text/csv"
            className="input"
            disabled={isBusy}
            onClick={forgetFile}
            onChange={event => choose(event.target.files?.[0])}
          />
        </label>
        {file && (
          <p>
            {[
              t('{count} rows', { count: file.rows.length }),
              file.unknown.length > 0 &&
                t('left out, as no field above: {names}', { names: file.unknown.join(', ') }),
              file.isGuessed && t('no UTF-8, so read as Windows-1252: look at the accents'),
              done && t('{count} rows imported', { count: done }),
            ]
              .filter(Boolean)
              .join('; ')}
          </p>
        )}
        {file && memory.current?.before && done === undefined && (
          <Alert
            text={t('All of it was imported on {date}. Imported again, its rows are there twice.', {
              date: times.format(memory.current.before),
            })}
          />
        )}
        {faults.length > 0 && (
          <table className="table">
            <caption>
              <span role="alert" className="fault">
                {t('Faults: {count}.', { count: faults.length })}{' '}
                {faults.some(({ isLost }) => isLost)
                  ? t(
                      'No answer came, so nobody knows whether these rows are there. Import again, or choose the file again under the same name: no row is made twice.',
                    )
                  : done === undefined
                    ? t('Nothing is imported. Once they are mended, choose the file again.')
                    : t(
                        'The rows before are there. Once these are mended, choose the file again under the same name: rows that are unchanged are not made again, even if you delete them here. To begin anew, give the file another name.',
                      )}
              </span>
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
          <Button
            tone="main"
            disabled={!file?.rows.length || faults.some(({ isOpen }) => !isOpen) || isBusy}
            onClick={run}
          >
            {isBusy ? t('Importing…') : t('Import')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
