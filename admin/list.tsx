/** The list of any entity: search, filters, order, columns, pages, selection, and what may be done to rows. */
import { useQuery } from '@tanstack/react-query'
import {
  ListBase,
  useDataProvider,
  useListContext,
  useNavigate,
  useNotify,
  useRefresh,
  useStore,
} from 'ra-core'
import { type SyntheticEvent, useEffect, useRef, useState } from 'react'
import { ActionRunner } from './actions.tsx'
import { useEntity } from './context.ts'
import type { Condition, DuetProvider, Filter, Order, Outcome } from './data-provider.ts'
import { textOf, ValueInput } from './inputs.tsx'
import {
  columnsOf,
  type Entity,
  type Field,
  isNumber,
  orderOf,
  type Row,
  searchOf,
  titleOf,
} from './model.ts'
import { Value } from './show.tsx'
import { exportRows, ImportDialog } from './transfer.tsx'
import { Asking, Button, Dialog, Heading, Icon, IconButton, Menu, useShortcut } from './ui.tsx'
import { Views } from './views.tsx'
import { lower, t } from './words.ts'

const operators: Record<string, string> = {
  eq: t('is'),
  ne: t('is not'),
  gt: t('more than'),
  gte: t('at least'),
  lt: t('less than'),
  lte: t('at most'),
  contains: t('contains'),
  startsWith: t('starts with'),
  isNull: t('is empty'),
  has: t('has'),
  in: t('is one of'),
}
const timed: Record<string, string> = {
  gt: t('after'),
  gte: t('from'),
  lt: t('before'),
  lte: t('until'),
}
const wordOf = (op: string, { kind = '' }: Partial<Field> = {}) =>
  (['date', 'time'].includes(kind) && timed[op]) || operators[op] || op
const operatorsOf = ({ where = [], kind }: Field) =>
  where.filter(
    op =>
      op in operators && !(kind === 'reference' && op !== 'eq' && op !== 'ne' && op !== 'isNull'),
  )

/** What the input of a value begins with. */
const usualOf = ({ of, kind }: Field, op: string): unknown =>
  op === 'isNull' || kind === 'flag' ? true : (of?.[0] ?? null)

/** Asks for a field and a value of it, and by `onAdd` for the condition between them. */
const FieldDialog = ({
  title,
  word,
  fields,
  first = fields[0],
  was,
  onClose,
  onAdd,
  onSet,
}: {
  title: string
  word: string
  fields: Field[]
  first: Field | undefined
  /** The condition that is changed, unless it is a new one. */
  was?: Condition | undefined
  onClose: () => void
  onAdd?: (condition: Condition) => void
  onSet?: (data: Record<string, unknown>) => void
}) => {
  const [name, setName] = useState(first?.name ?? '')
  const field = fields.find(one => one.name === name) as Field
  const [op, setOp] = useState(was?.op ?? 'eq')
  const [given, setValue] = useState<unknown>(() => {
    const number = Number(was?.value || Number.NaN)
    return isNumber(field) && !Number.isNaN(number) ? number : was?.value
  })
  const known = operatorsOf(field)
  const chosen = onAdd && !known.includes(op) ? (known[0] ?? 'eq') : op
  const value = given === undefined ? usualOf(field, chosen) : given
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={event => {
          event.preventDefault()
          onSet?.({ [name]: value === '' && field.nullable ? null : value })
          onAdd?.({ field: name, op: chosen, value: textOf(value) })
        }}
      >
        <label>
          {t('Field')}
          <select
            className="input"
            value={name}
            onChange={event => {
              setName(event.target.value)
              setValue(undefined)
            }}
          >
            {fields.map(({ name, label }) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {onAdd && (
          <label>
            {t('Condition')}
            <select
              className="input"
              value={chosen}
              onChange={event => {
                const next = event.target.value
                setOp(next)
                // What was typed stays where the next input can show it.
                if (chosen === 'in' || [next, chosen].includes('isNull')) setValue(undefined)
                else if (next === 'in') setValue(textOf(value))
              }}
            >
              {known.map(op => (
                <option key={op} value={op}>
                  {wordOf(op, field)}
                </option>
              ))}
            </select>
          </label>
        )}
        <div className="field">
          <span>{t('Value')}</span>
          <ValueInput
            field={onAdd ? { ...field, nullable: false } : field}
            op={chosen}
            value={value}
            onChange={setValue}
          />
        </div>
        <div className="dialog-actions">
          <Button type="submit" tone="main">
            {word}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const Search = ({ label }: { label: string }) => {
  const { filterValues, setFilters } = useListContext()
  const asked = filterValues.q ?? ''
  const [text, setText] = useState<string>(asked)
  const sent = useRef(asked)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (sent.current === text) return
    const timer = setTimeout(() => {
      sent.current = text
      setFilters({ ...filterValues, q: text || undefined }, undefined, false)
    }, 250)
    return () => clearTimeout(timer)
  }, [text])
  useEffect(() => {
    // What came from elsewhere, such as a view or the back key, is shown; what is being typed stays.
    if (sent.current === asked) return
    sent.current = asked
    setText(asked)
  }, [asked])
  useShortcut('/', false, () => input.current?.focus())
  return (
    <div className="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        className="input"
        placeholder={t('Search {label}', { label })}
        aria-label={t('Search {label}', { label })}
        value={text}
        onChange={event => setText(event.target.value)}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  )
}

/** Whether something may be done to a row. */
type May = (row: Row, word: string) => boolean

/** The fields that many rows are given one value of. */
const changeable = ({ fields }: Entity) =>
  fields.filter(
    ({ set, kind }) => set === 'always' && !['long', 'json', 'list', 'file'].includes(kind),
  )

/** Tells which rows a change of many left as they were, and why. */
const LeftDialog = ({
  entity,
  outcome: { done, left },
  onClose,
}: {
  entity: Entity
  outcome: Outcome
  onClose: () => void
}) => (
  <Dialog
    title={
      done > 0
        ? t('{count} done, {left} left as they were', { count: done, left: left.length })
        : t('Nothing is changed yet')
    }
    onClose={onClose}
  >
    <ul className="left">
      {left.map(({ row, message }) => (
        <li key={row.id}>
          <strong>{titleOf(entity, row)}</strong> <span className="muted">{message}</span>
        </li>
      ))}
    </ul>
    <p className="help">{t('The list shows them as they are now, and they are still selected.')}</p>
    <div className="dialog-actions">
      <Button tone="main" onClick={onClose}>
        {t('Back to the list')}
      </Button>
    </div>
  </Dialog>
)

const Bulk = ({ entity, rows, may }: { entity: Entity; rows: Row[]; may: May }) => {
  const { onUnselectItems, onSelect, resource } = useListContext<Row>()
  const [dialog, setDialog] = useState<string>()
  const [outcome, setOutcome] = useState<Outcome>()
  const [isBusy, setBusy] = useState(false)
  const provider = useDataProvider<DuetProvider>()
  const notify = useNotify()
  const refresh = useRefresh()
  const run = async (chosen: Row[], what: (rows: Row[]) => Promise<Outcome>, said: string) => {
    setDialog(undefined)
    setBusy(true)
    try {
      const came = await what(chosen)
      const { done, left } = came
      const rest = rows.filter(row => !chosen.includes(row))
      const kept = done > 0 || left.length === 0 ? [...left.map(({ row }) => row), ...rest] : rows
      if (left.length > 0) setOutcome(came)
      else notify(said, { type: 'success' })
      if (kept.length > 0) onSelect(kept.map(({ id }) => id))
      else onUnselectItems()
    } catch (error) {
      notify((error as Error).message, { type: 'error' })
    }
    setBusy(false)
    refresh()
  }
  /** What may be done to some of the rows, and its name with their number. */
  const able = (label: string, name: string, verdict: string = 'row') => {
    const chosen = verdict === 'no' ? [] : rows.filter(row => may(row, name))
    const [some, count] = [chosen.length, rows.length]
    const number = some < count ? t('{some} of {count}', { some, count }) : some
    return { name, chosen, text: `${label} (${number})`, words: { label, count: some } }
  }
  const fields = changeable(entity)
  const changed = able(t('Change a field…'), 'update', entity.may.update)
  const jobs = [
    ...entity.actions
      .filter(({ input, body, bulk }) => bulk !== false && input.length === 0 && !body)
      .map(action => ({
        ...able(action.label, action.name),
        tone: action.danger ? ('danger' as const) : undefined,
        run: (rows: Row[]) => provider.actOnRows(resource, action, rows),
      })),
    {
      ...able(t('Delete'), 'delete', entity.may.delete),
      tone: 'danger' as const,
      run: (rows: Row[]) => provider.removeRows(resource, rows),
    },
  ].filter(({ chosen }) => chosen.length > 0)
  const job = jobs.find(({ name }) => name === dialog)
  const named = (count: number) => lower(count === 1 ? entity.label : entity.labels)
  return (
    <div className="bulk" role="region" aria-label={t('Selected rows')} aria-busy={isBusy}>
      <strong>{isBusy ? t('Saving…') : t('{count} selected', { count: rows.length })}</strong>
      {changed.chosen.length > 0 && fields.length > 0 && (
        <Button disabled={isBusy} onClick={() => setDialog('update')}>
          {changed.text}
        </Button>
      )}
      {jobs.map(({ name, text, tone }) => (
        <Button key={name} disabled={isBusy} tone={tone} onClick={() => setDialog(name)}>
          {name === 'delete' && <Icon name="trash" />}
          {text}
        </Button>
      ))}
      <Button tone="quiet" onClick={() => onUnselectItems()}>
        {t('Clear')}
      </Button>
      {dialog === 'update' && (
        <FieldDialog
          title={t('Change {count}: {label}', { ...changed.words, label: entity.labels })}
          word={t('Change {count}', changed.words)}
          fields={fields}
          // What many rows share is seldom a text.
          first={fields.find(({ kind }) => ['choice', 'flag', 'reference'].includes(kind))}
          onClose={() => setDialog(undefined)}
          onSet={data =>
            run(
              changed.chosen,
              rows => provider.changeRows(resource, rows, data),
              t('{count} changed', changed.words),
            )
          }
        />
      )}
      {job && (
        <Asking
          title={t('{label} {count} {rows}?', { ...job.words, rows: named(job.words.count) })}
          text={
            job.name === 'delete'
              ? t('This cannot be undone. What belongs to it goes too.')
              : job.chosen.map(row => titleOf(entity, row)).join(', ')
          }
          word={t('{label} {count}', job.words)}
          tone={job.tone ?? 'main'}
          onClose={() => setDialog(undefined)}
          onYes={() => run(job.chosen, job.run, t('{label}: {count} done', job.words))}
        />
      )}
      {outcome && (
        <LeftDialog entity={entity} outcome={outcome} onClose={() => setOutcome(undefined)} />
      )}
    </div>
  )
}

const Pages = ({ entity }: { entity: Entity }) => {
  const context = useListContext()
  const { page, perPage, setPage, setPerPage, total, hasNextPage, hasPreviousPage } = context
  const { data, isPending, filterValues, sort, setSort } = context
  const [, setUsual] = useStore('perPage', 25)
  const provider = useDataProvider<DuetProvider>()
  // Pages by cursor come without a total: it is counted beside them.
  const counted = useQuery({
    queryKey: ['count', entity.name, filterValues],
    queryFn: () => provider.count(entity.name, filterValues),
    enabled: entity.paging === 'cursor' && entity.sums,
  })
  const all = total ?? counted.data
  const last = all === undefined ? undefined : Math.max(1, Math.ceil(all / perPage))
  const first = (page - 1) * perPage + 1
  if (page === 1 && !isPending && !data?.length) return null
  return (
    <nav className="pages" aria-label={t('Pages')}>
      <span>
        {isPending
          ? '…'
          : data?.length
            ? `${first.toLocaleString()}–${(first + data.length - 1).toLocaleString()}`
            : '0'}
        {all !== undefined && !isPending && ` ${t('of {count}', { count: all })}`}
      </span>
      <label className="inline">
        {t('Rows')}{' '}
        <select
          className="input small"
          value={perPage}
          onChange={event => {
            setPerPage(Number(event.target.value))
            setUsual(Number(event.target.value))
          }}
        >
          {[10, 25, 50, 100].map(n => (
            <option key={n}>{n}</option>
          ))}
        </select>
      </label>
      <IconButton
        icon="left"
        label={t('Previous page')}
        disabled={!hasPreviousPage}
        onClick={() => setPage(page - 1)}
      />
      {entity.paging === 'page' && last !== undefined ? (
        <label className="inline">
          <input
            className="input small number"
            type="number"
            min={1}
            max={last}
            aria-label={t('Page')}
            key={page}
            defaultValue={page}
            onBlur={event => setPage(Math.min(last, Math.max(1, Number(event.target.value) || 1)))}
            onKeyDown={event => event.key === 'Enter' && event.currentTarget.blur()}
          />{' '}
          / {last.toLocaleString()}
        </label>
      ) : (
        <span>{`${t('Page')} ${page.toLocaleString()}`}</span>
      )}
      <IconButton
        icon="right"
        label={t('Next page')}
        disabled={!hasNextPage}
        onClick={() => setPage(page + 1)}
      />
      {entity.paging === 'cursor' && hasNextPage && (
        <Button
          tone="quiet"
          onClick={() =>
            setSort({ field: sort.field, order: sort.order === 'ASC' ? 'DESC' : 'ASC' })
          }
        >
          {t('From the end')}
        </Button>
      )}
    </nav>
  )
}

/** Tells what a list cuts to who points at it; what a key reaches is shown whole by the style. */
const tellCut = ({ target }: SyntheticEvent) => {
  const cell = (target as HTMLElement).closest<HTMLElement>('.title, td')
  if (cell) cell.title = cell.scrollWidth > cell.clientWidth ? cell.innerText : ''
}

const Table = ({ entity, columns, may }: { entity: Entity; columns: Field[]; may: May }) => {
  const context = useListContext<Row>()
  const { data = [], sort, setSort, selectedIds, onToggleItem, onSelect, isPending } = context
  const { isPlaceholderData = false, error, resource, filterValues, setFilters, refetch } = context
  /** With Shift all between the one that was selected last and this. */
  const choose = (at: number, isRange: boolean) => {
    const places = isRange ? selectedIds.map(id => data.findIndex(row => row.id === id)) : []
    const from = places.findLast(place => place >= 0) ?? at
    const ids = data.slice(Math.min(from, at), Math.max(from, at) + 1).map(({ id }) => id)
    if (ids.length > 1) onSelect([...new Set([...selectedIds, ...ids])])
    else for (const id of ids) onToggleItem(id)
  }
  const navigate = useNavigate()
  const [acting, setActing] = useState<{ action: Entity['actions'][number]; row: Row }>()
  // The column that leads to the row; what may lead elsewhere does not.
  const titled =
    columns.find(({ name }) => name === entity.title) ??
    columns.find(({ name, kind }) => name === 'id' || isNumber({ kind }) || kind === 'text')
  const selectable =
    entity.may.update !== 'no' || entity.may.delete !== 'no' || entity.actions.length > 0
  const entriesOf = (row: Row) => [
    titled === undefined &&
      entity.may.one && {
        label: t('Open'),
        run: () => navigate(`/${resource}/${row.id}`),
      },
    ...entity.actions
      .filter(({ name }) => may(row, name))
      .map(action => ({
        label: action.label,
        danger: action.danger,
        run: () => setActing({ action, row }),
      })),
  ]
  const all = (filterValues.q || !!filterValues.where?.length) && (
    <Button onClick={() => setFilters({}, undefined, false)}>
      {t('Show all: {label}', { label: entity.labels })}
    </Button>
  )
  if (error)
    return (
      <div className="empty" role="alert">
        <p>{(error as Error).message}</p>
        <Button onClick={() => refetch()}>{t('Try again')}</Button>
        {all}
      </div>
    )
  if (!isPending && data.length === 0)
    return (
      <div className="empty">
        <p>{all ? t('Nothing found.') : t('No rows yet.')}</p>
        {all}
      </div>
    )
  return (
    <div className="table-frame">
      <table className="table">
        <thead>
          <tr>
            {selectable && (
              <th scope="col" className="select">
                <input
                  type="checkbox"
                  aria-label={t('Select all on this page')}
                  checked={data.length > 0 && data.every(row => selectedIds.includes(row.id))}
                  onChange={event => onSelect(event.target.checked ? data.map(row => row.id) : [])}
                />
              </th>
            )}
            {columns.map(field => {
              const isSorted = sort.field === field.name
              return (
                <th
                  key={field.name}
                  scope="col"
                  className={isNumber(field) ? 'numeric' : ''}
                  aria-sort={
                    isSorted ? (sort.order === 'ASC' ? 'ascending' : 'descending') : undefined
                  }
                >
                  {field.sort ? (
                    <button
                      type="button"
                      className="sort"
                      onClick={() =>
                        setSort({
                          field: field.name,
                          order: isSorted && sort.order === 'ASC' ? 'DESC' : 'ASC',
                        })
                      }
                    >
                      {field.label}
                      {isSorted && <Icon name={sort.order === 'ASC' ? 'up' : 'down'} />}
                    </button>
                  ) : (
                    field.label
                  )}
                </th>
              )
            })}
            <th scope="col" className="more">
              <span className="hidden">{t('More')}</span>
            </th>
          </tr>
        </thead>
        <tbody aria-busy={isPending || isPlaceholderData} onMouseOver={tellCut} onFocus={tellCut}>
          {isPending
            ? Array.from({ length: 8 }, (_, at) => (
                <tr key={at} className="ghost">
                  <td colSpan={columns.length + 2}>
                    <span />
                  </td>
                </tr>
              ))
            : data.map((row, at) => {
                const to = `/${resource}/${row.id}`
                return (
                  <tr
                    key={row.id}
                    className={selectedIds.includes(row.id) ? 'chosen' : ''}
                    onClick={event => {
                      const on = (event.target as HTMLElement).closest(
                        'a,button,input,.select,.menu',
                      )
                      if (on?.matches('.select')) choose(at, event.shiftKey)
                      else if (!on && entity.may.one) navigate(to)
                    }}
                  >
                    {selectable && (
                      <td className="select">
                        <input
                          type="checkbox"
                          aria-label={t('Select {label}', { label: titleOf(entity, row) })}
                          checked={selectedIds.includes(row.id)}
                          onChange={event =>
                            choose(at, (event.nativeEvent as MouseEvent).shiftKey === true)
                          }
                        />
                      </td>
                    )}
                    {columns.map(field => (
                      <td
                        key={field.name}
                        data-label={field.label}
                        className={field === titled ? 'named' : isNumber(field) ? 'numeric' : ''}
                      >
                        {field === titled && entity.may.one ? (
                          <a href={`#${to}`} className="title" dir="auto">
                            {field.name === entity.title || !row[field.name]
                              ? titleOf(entity, row)
                              : String(row[field.name])}
                          </a>
                        ) : (
                          <Value field={field} value={row[field.name]} />
                        )}
                      </td>
                    ))}
                    <td className="more">
                      <Menu
                        label={t('Actions of {label}', { label: titleOf(entity, row) })}
                        icon="more"
                        entries={entriesOf(row)}
                      />
                    </td>
                  </tr>
                )
              })}
        </tbody>
      </table>
      {acting && <ActionRunner {...{ entity, ...acting }} onClose={() => setActing(undefined)} />}
    </div>
  )
}

const Body = ({ entity }: { entity: Entity }) => {
  const { data = [], filterValues, setFilters, selectedIds, sort, resource } = useListContext<Row>()
  const provider = useDataProvider<DuetProvider>()
  const notify = useNotify()
  const [dialog, setDialog] = useState<'import' | number>()
  const [chosen, setChosen] = useStore<string[]>(`${entity.name}.columns`, columnsOf(entity))
  const columns = chosen.flatMap(name => entity.fields.find(field => field.name === name) ?? [])
  const byRow =
    entity.may.update === 'row' ||
    entity.may.delete === 'row' ||
    entity.actions.some(({ may }) => may === 'row')
  const ids = data.map(({ id }) => id)
  const { data: words } = useQuery({
    queryKey: ['may', resource, ids],
    queryFn: () => provider.may(resource, ids),
    enabled: byRow && ids.length > 0,
  })
  // What nobody has said yet is not offered, lest it be taken away again.
  const may: May = ({ id }, word) => !byRow || words?.[id]?.includes(word) === true
  // What is not seen is not changed.
  const selected = data.filter(({ id }) => selectedIds.includes(id))
  const where: Condition[] = filterValues.where ?? []
  const setWhere = (where: Condition[]) => setFilters({ ...filterValues, where }, undefined, false)
  const shown = entity.fields.filter(({ hidden }) => !hidden)
  const asked = entity.fields.filter(field => operatorsOf(field).length > 0)
  const search = searchOf(entity)
  const refresh = useRefresh()
  const navigate = useNavigate()
  const labelOf = ({ field: name, op, value }: Condition) => {
    const field = entity.fields.find(one => one.name === name)
    if (op === 'isNull')
      return `${field?.label} ${value === 'false' ? t('is not empty') : t('is empty')}`
    // What is stored otherwise than it is read.
    const isTold =
      field &&
      op !== 'in' &&
      (isNumber(field) ||
        ['reference', 'flag'].includes(field.kind) ||
        (['date', 'time'].includes(field.kind) && !Number.isNaN(Date.parse(value))))
    return (
      <span>
        {field?.label} {wordOf(op, field)}{' '}
        <b>{isTold ? <Value bare field={field} value={value} /> : value}</b>
      </span>
    )
  }
  return (
    <>
      <header className="head">
        <div>
          <Heading text={entity.labels} />
          {entity.description && <p className="muted">{entity.description}</p>}
        </div>
        <div className="head-actions">
          <Menu
            label={t('More')}
            icon="more"
            entries={[
              { label: t('Reload the list'), run: refresh },
              {
                label: t('Export as CSV'),
                run: () =>
                  exportRows(provider, entity, filterValues as Filter, sort as Order).then(
                    count => notify(t('{count} rows exported', { count })),
                    (error: Error) => notify(error.message, { type: 'error' }),
                  ),
              },
              entity.may.create !== 'no' &&
                !entity.createAt && { label: t('Import CSV…'), run: () => setDialog('import') },
            ]}
          />
          {entity.may.create !== 'no' && (
            <Button tone="main" onClick={() => navigate(`/${entity.name}/create`)}>
              <Icon name="plus" />
              {t('New {label}', { label: lower(entity.label) })}
            </Button>
          )}
        </div>
      </header>
      <div className="tools">
        {search && <Search label={lower(entity.labels)} />}
        <Button onClick={() => setDialog(where.length)}>
          <Icon name="filter" />
          {t('Filter')}
        </Button>
        <Menu
          label={t('Columns')}
          icon="columns"
          text={t('Columns')}
          entries={shown.map(({ name, label }) => ({
            label,
            checked: chosen.includes(name),
            run: () =>
              setChosen(
                chosen.includes(name) ? chosen.filter(one => one !== name) : [...chosen, name],
              ),
          }))}
        />
        <Views entity={entity} columns={chosen} onColumns={setChosen} />
        {where.map((condition, at) => (
          <span key={at} className="chip">
            <button type="button" onClick={() => setDialog(at)}>
              {labelOf(condition)}
            </button>
            <button
              type="button"
              aria-label={t('Remove {label}', { label: condition.field })}
              onClick={() => setWhere(where.filter((_, other) => other !== at))}
            >
              <Icon name="close" />
            </button>
          </span>
        ))}
      </div>
      {selected.length > 0 && <Bulk entity={entity} rows={selected} may={may} />}
      <Table entity={entity} columns={columns} may={may} />
      <Pages entity={entity} />
      {typeof dialog === 'number' && (
        <FieldDialog
          title={t('Filter')}
          word={t('Apply')}
          fields={asked}
          was={where[dialog]}
          first={
            asked.find(({ name }) => name === where[dialog]?.field) ??
            asked.find(({ kind }) => kind === 'choice') ??
            asked.find(({ name }) => name !== 'id')
          }
          onClose={() => setDialog(undefined)}
          onAdd={condition => {
            setDialog(undefined)
            setWhere(where.toSpliced(dialog, 1, condition))
          }}
        />
      )}
      {dialog === 'import' && <ImportDialog entity={entity} onClose={() => setDialog(undefined)} />}
    </>
  )
}

export const List = ({ name }: { name: string }) => {
  const entity = useEntity(name)
  const [perPage] = useStore('perPage', 25)
  return (
    <ListBase
      resource={name}
      perPage={perPage}
      sort={orderOf(entity)}
      disableSyncWithLocation={false}
      // The list says it in the place of its rows.
      queryOptions={{ onError: () => {} }}
    >
      <Body entity={entity} />
    </ListBase>
  )
}
