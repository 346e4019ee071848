/** Making and changing a row with its nested rows; faults of the service beside their fields; what others changed meanwhile is merged. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import {
  CreateBase,
  EditBase,
  Form,
  type HttpError,
  RecordContextProvider,
  useDataProvider,
  useEditContext,
  useGetList,
  useNavigate,
  useNotify,
  useStore,
} from 'ra-core'
import { type MutableRefObject, type ReactNode, useEffect, useRef, useState } from 'react'
import { useFieldArray, useFormContext, useFormState } from 'react-hook-form'
import { useBlocker, useLocation, useParams } from 'react-router'
import { ActionRunner } from './actions.tsx'
import { faultsOf, saidOf } from './api.ts'
import { type Mode, membersOf, merged, placeOf, type Side, same, saveOver } from './changes.ts'
import { useEntity, useModel } from './context.ts'
import type { DuetProvider, Filter } from './data-provider.ts'
import { FieldLabel, faultIn, Input } from './inputs.tsx'
import { MergeDialog } from './merge.tsx'
import {
  type Action,
  columnsOf,
  type Entity,
  entityNamed,
  type Field,
  type Model,
  orderOf,
  type Relation,
  type Row,
  titleOf,
} from './model.ts'
import { Value } from './show.tsx'
import { Alert, Asking, Button, Heading, Icon, IconButton, Menu, useShortcut } from './ui.tsx'
import { lower, t } from './words.ts'

/** The rows that belong to this one, changed with it in one save. */
const Nested = ({
  relation,
  mode,
  isCut,
  disabled,
}: {
  relation: Relation
  mode: Mode
  /** Whether there are more of them than are shown. */
  isCut: boolean
  disabled: boolean
}) => {
  const to = entityNamed(useModel(), relation.to)
  const { control } = useFormContext()
  const array = useFieldArray({ control, name: relation.name, keyName: '_key' })
  const { fields: rows, append, remove } = array
  const fault = faultIn(useFormState().errors[relation.name], false)
  if (!to) return null
  const words = relation.may?.[mode] ?? []
  const columns = to.fields.filter(({ set, name }) => set !== 'never' && name !== relation.by)
  return (
    <fieldset className="parts" disabled={disabled}>
      <legend>{relation.label}</legend>
      {rows.length > 0 && (
        <table className="table edit">
          <thead>
            <tr>
              {columns.map(field => (
                <th key={field.name} scope="col">
                  <FieldLabel field={field} />
                </th>
              ))}
              <th scope="col">
                <span className="hidden">{t('Remove')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => {
              const isNew = (row as Partial<Row>).id === undefined
              return (
                <tr key={row._key}>
                  {columns.map(field => (
                    <td key={field.name} data-label={field.label + (field.required ? ' *' : '')}>
                      <Input
                        field={field}
                        source={`${relation.name}.${at}.${field.name}`}
                        bare
                        disabled={!isNew && !words.includes('update')}
                      />
                    </td>
                  ))}
                  <td>
                    {(isNew || words.includes('delete')) && (
                      <IconButton
                        icon="trash"
                        label={t('Remove {label}', { label: `${to.label} ${at + 1}` })}
                        onClick={() => remove(at)}
                      />
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
      {isCut && <p className="help">{t('The first {count} are shown.', { count: rows.length })}</p>}
      {words.includes('create') && (
        <Button
          onClick={() =>
            append(Object.fromEntries(columns.map(({ name, initial }) => [name, initial ?? null])))
          }
        >
          <Icon name="plus" />
          {t('Add {label}', { label: lower(to.label) })}
        </Button>
      )}
      <Alert text={fault} />
    </fieldset>
  )
}

/** The fields that a form asks for. */
const givenIn = ({ fields }: Entity, mode: Mode) =>
  fields.filter(({ set }) => set === 'always' || (set === 'create' && mode === 'create'))

/** Whether a form writes something of a relation. */
const isWritten = ({ may }: Relation, mode: Mode) => (may?.[mode].length ?? 0) > 0

const wideKinds = ['text', 'slug', 'long', 'json', 'list', 'uri', 'file']

/** What somebody sees of a row without changing it here. */
const Facts = ({ fields, row }: { fields: Entity['fields']; row: Row }) =>
  fields.length > 0 && (
    <dl className="facts">
      {fields.map(field => (
        <div key={field.name}>
          <dt>{field.label}</dt>
          <dd>
            <Value field={field} value={row[field.name]} />
          </dd>
        </div>
      ))}
    </dl>
  )

/** Says what is not offered of a row, and what it takes. */
const Missing = ({ entity, words }: { entity: Entity; words: readonly string[] }) => {
  const { may, needs, actions } = entity
  const missing = [
    { name: 'update', label: t('Change'), need: may.update === 'row' && needs[0] },
    ...actions,
    { name: 'delete', label: t('Delete'), need: may.delete === 'row' && needs[1] },
  ].filter(({ name, need }) => need && !words.includes(name))
  if (missing.length === 0) return null
  return (
    <details>
      <summary>{t('What is not offered here')}</summary>
      <ul className="left">
        {missing.map(({ name, label, need }) => (
          <li key={name}>
            <strong>{label}</strong> <span className="muted">{need}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}

const Fields = ({
  entity,
  mode,
  row,
  children,
}: {
  entity: Entity
  mode: Mode
  row?: Row
  children?: ReactNode
}) => {
  const given = givenIn(entity, mode)
  const isWide = ({ kind, place }: Field) => (place ? place === 'main' : wideKinds.includes(kind))
  const written = entity.relations.filter(relation => isWritten(relation, mode))
  return (
    <div className="fields">
      <div className="body">
        {given.filter(isWide).map(field => (
          <Input key={field.name} field={field} />
        ))}
        {entity.relations
          .filter(({ kind }) => kind === 'nested')
          .map(relation => (
            <Nested
              key={relation.name}
              {...{ relation, mode }}
              isCut={row?._more?.includes(relation.name) === true}
              disabled={!written.includes(relation)}
            />
          ))}
      </div>
      <div className="beside">
        <div className="side">
          {given
            .filter(field => !isWide(field))
            .map(field => (
              <Input key={field.name} field={field} />
            ))}
          {written
            .filter(({ kind }) => kind === 'links')
            .map(({ name, label, kind, to }) => (
              <Input key={name} field={{ name, label, kind, to, set: 'always' }} />
            ))}
        </div>
        {children}
      </div>
    </div>
  )
}

/** Asks before what was typed is lost: by a link or the back key here, by the browser where the page itself is left. */
const Leaving = ({ isFree }: { isFree: MutableRefObject<boolean> }) => {
  const blocker = useBlocker(() => !isFree.current)
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (!isFree.current) event.preventDefault()
    }
    addEventListener('beforeunload', leave)
    return () => removeEventListener('beforeunload', leave)
  }, [isFree])
  if (blocker.state !== 'blocked') return null
  return (
    <Asking
      title={t('Leave without saving?')}
      text={t('What you typed is not saved.')}
      no={t('Stay')}
      word={t('Leave')}
      onClose={() => blocker.reset()}
      onYes={() => blocker.proceed()}
    />
  )
}

/** Saves with Ctrl-S too, and says whether there is anything to save. */
const SaveBar = ({
  label,
  isForced = false,
  isNew = false,
  isFree,
  onChanged,
  onDiscard,
}: {
  label: string
  isForced?: boolean
  /** Whether nothing of it is there yet, so that it can be saved as it begins. */
  isNew?: boolean
  isFree: MutableRefObject<boolean>
  onChanged?: (isChanged: boolean) => void
  onDiscard?: () => void
}) => {
  const { isDirty, isSubmitting, errors } = useFormState()
  const bar = useRef<HTMLDivElement>(null)
  // Values that a merge gave are not what the form calls dirty.
  const isChanged = isDirty || isForced
  useEffect(() => onChanged?.(isChanged), [isChanged, onChanged])
  useShortcut('s', true, () => bar.current?.querySelector<HTMLElement>('.main')?.click())
  const { root, ...marked } = errors
  const isMarked = Object.keys(marked).length > 0
  const refusal = (root as { refusal?: { message?: string } } | undefined)?.refusal?.message
  const fault = [refusal, isMarked && t('Look at what is marked.')].filter(Boolean).join(' ')
  useEffect(() => {
    if (isMarked && !isSubmitting)
      document.querySelector<HTMLElement>('form.record [aria-invalid=true]')?.focus()
  }, [isSubmitting])
  return (
    <div className="save-bar" ref={bar}>
      {isChanged && <Leaving isFree={isFree} />}
      {fault && !isSubmitting ? (
        <span className="fault" role="alert">
          {t('Not saved')}. {fault}
        </span>
      ) : (
        <span className="muted" role="status">
          {isSubmitting
            ? t('Saving…')
            : isChanged
              ? t('Not saved')
              : isNew
                ? ''
                : t('Nothing to save')}
        </span>
      )}
      {onDiscard && isChanged && !isSubmitting && (
        <Button tone="quiet" onClick={onDiscard}>
          {t('Discard changes')}
        </Button>
      )}
      <Button type="submit" tone="main" disabled={isSubmitting || !(isChanged || isNew)}>
        {label}
        <kbd aria-hidden="true">{/^Mac/.test(navigator.platform) ? '⌘ S' : t('Ctrl S')}</kbd>
      </Button>
    </div>
  )
}

/** A form that tells of its faults itself. */
const quiet = { className: 'record', noValidate: true, disableInvalidFormNotification: true }

type Errors = { [member: string]: string | Errors }

/** The faults of a refusal by the places of the form; those without a place are said at its top. */
const errorsOf = (
  error: unknown,
  model: Model,
  entity: Entity,
  mode: Mode,
  mine: Partial<Row>,
  base: Partial<Row>,
): Errors => {
  const faults = faultsOf(error)
  if (faults.length === 0) return { root: { refusal: saidOf(error) } }
  const known = (name: string) =>
    givenIn(entity, mode).some(field => field.name === name) ||
    entity.relations.some(relation => relation.name === name && isWritten(relation, mode))
  const errors: Errors = {}
  const rest: string[] = []
  for (const { field, message } of faults) {
    const path = placeOf(field, mine, base).split('.')
    if (!known(path[0] ?? '')) {
      rest.push(`${field} ${message}`)
      continue
    }
    let at = errors
    for (const key of path.slice(0, -1)) {
      const below = at[key]
      const inner = typeof below === 'object' ? below : {}
      at[key] = inner
      at = inner
    }
    const isNew = mode === 'create' || field.split('.')[1] === 'create'
    const to = entity.relations.find(({ name }) => name === path[0])?.to
    const { fields } = (to && entityNamed(model, to)) || entity
    const value = path.reduce<unknown>((of, key) => (of as Errors | null)?.[key], mine) ?? null
    const isMissing =
      (value === null || (isNew && value === '')) &&
      fields.some(({ name, nullable }) => name === path.at(-1) && !nullable)
    at[path.at(-1) ?? ''] = isMissing ? t('is required') : message
  }
  if (rest.length) errors.root = { refusal: rest.join('; ') }
  return errors
}

/** Sets values that a merge gave, so that the form knows that they are not saved; and tells what is typed now. */
const Merged = ({
  values,
  typed,
}: {
  values: Record<string, unknown> | undefined
  typed: MutableRefObject<() => Partial<Row>>
}) => {
  const { setValue, getValues } = useFormContext()
  typed.current = getValues
  useEffect(() => {
    // After the reset with which ra-core's form begins, in an effect of the parent.
    const timer = setTimeout(() => {
      for (const [name, value] of Object.entries(values ?? {}))
        setValue(name, value, { shouldDirty: true })
    })
    return () => clearTimeout(timer)
  }, [values, setValue])
  return null
}

const Related = ({ relation, row }: { relation: Relation; row: Row }) => {
  const model = useModel()
  const to = entityNamed(model, relation.to)
  const provider = useDataProvider<DuetProvider>()
  const path = relation.path?.replace('{id}', String(row.id))
  const { data, isPending, error } = useQuery({
    queryKey: [relation.to, 'getList', path],
    enabled: Boolean(to && path),
    queryFn: () => provider.below(relation.to, path ?? '', 5),
  })
  const embedded = relation.embedded ? ((row[relation.name] ?? []) as Partial<Row>[]) : undefined
  const rows = embedded ?? data?.data ?? []
  const isMore = data?.pageInfo?.hasNextPage || (data?.total ?? 0) > 5
  const by = to?.fields.find(({ name }) => name === relation.by)
  // Whoever writes in his own name alone does so beside his own row.
  const isOther = by?.self === true && row.id !== model.viewer.id
  const isMade = to?.may.create === 'yes' || (to?.may.create === 'row' && !isOther)
  const where = [{ field: relation.by, op: 'eq', value: String(row.id) }]
  const isAsked = to?.may.list !== 'no' && by?.where
  const all = isAsked && `#/${relation.to}?filter=${encodeURIComponent(JSON.stringify({ where }))}`
  // A title alone says little of a row.
  const isTold = ({ name }: Field) => name !== to?.title && name !== relation.by
  const told = to
    ? to.fields.filter(field => columnsOf(to).includes(field.name) && isTold(field)).slice(0, 2)
    : []
  if (isPending && !embedded) return null
  return (
    <section className="related card">
      <h2>{relation.label}</h2>
      {rows.length === 0 ? (
        <p className="muted">{error?.message ?? t('None.')}</p>
      ) : (
        <ul>
          {rows.map((one, at) => (
            <li key={one.id ?? at}>
              {to?.may.one && one.id ? (
                <>
                  <a href={`#/${relation.to}/${one.id}`}>{titleOf(to, one)}</a>
                  {told.map(field => (
                    <span key={field.name} className="muted">
                      {' · '}
                      {field.label}: <Value field={field} value={one[field.name]} />
                    </span>
                  ))}
                </>
              ) : (
                Object.entries(one)
                  .filter(([, value]) => typeof value !== 'object')
                  .map(([name, value]) => `${name}: ${value}`)
                  .join(', ')
              )}
            </li>
          ))}
        </ul>
      )}
      {isMore &&
        (all ? (
          <a href={all}>{t('Show all: {label}', { label: relation.label })}</a>
        ) : (
          <p className="muted">{t('The first {count} are shown.', { count: rows.length })}</p>
        ))}
      {to && isMade && by && by.set !== 'never' && (
        <p>
          <a className="button" href={`#/${to.name}/create?${by.name}=${row.id}`}>
            <Icon name="plus" />
            {t('New {label}', { label: lower(to.label) })}
          </a>
        </p>
      )}
    </section>
  )
}

type Listing = {
  page: number
  perPage: number
  sort: string
  order: 'ASC' | 'DESC'
  filter: Filter
}

/** The button by which somebody leafed to the row that opens, until that has it in its place. */
let leafed = ''

/** The rows before and after this one in the list that its viewer came from, over its pages too. */
const Neighbours = ({ entity, id }: { entity: Entity; id: number }) => {
  const [stored, setStored] = useStore<Partial<Listing>>(`${entity.name}.listParams`, {})
  const navigate = useNavigate()
  const usual = orderOf(entity)
  const { page = 1, perPage = 25, sort = usual.field, order = usual.order, filter = {} } = stored
  // As they were listed a moment ago, unless something is saved.
  const useRows = (of: number): Row[] =>
    useGetList<Row>(
      entity.name,
      { pagination: { page: of, perPage }, sort: { field: sort, order }, filter },
      { enabled: entity.may.list !== 'no' && of > 0, staleTime: 60_000 },
    ).data ?? []
  const rows = useRows(page)
  const at = rows.findIndex(row => row.id === id)
  const edge = at === 0 ? -1 : at === perPage - 1 ? 1 : 0
  const beside = useRows(edge === 0 ? 0 : page + edge)
  const isShown = at >= 0
  useEffect(() => {
    if (isShown) leafed = ''
  }, [isShown])
  if (!isShown) return null
  const buttonOf = (icon: 'up' | 'down', label: string, step: 1 | -1) => {
    const row = edge === step ? beside.at(step > 0 ? 0 : -1) : rows[at + step]
    const onClick = () => {
      if (edge === step) setStored({ ...stored, page: page + step })
      leafed = label
      navigate(`/${entity.name}/${row?.id}`)
    }
    // Who leafs through rows by a key stays on its button.
    return <IconButton {...{ icon, label, disabled: !row, onClick, autoFocus: leafed === label }} />
  }
  return (
    <>
      {buttonOf('up', t('Previous row'), -1)}
      {buttonOf('down', t('Next row'), 1)}
    </>
  )
}

/** Where the list of an entity is; the start for one without. */
const listOf = ({ name, may }: Entity) => (may.list === 'no' ? '/' : `/${name}`)

const ListLink = ({ entity }: { entity: Entity }) =>
  entity.may.list === 'no' ? entity.labels : <a href={`#${listOf(entity)}`}>{entity.labels}</a>

const EditBody = ({ entity }: { entity: Entity }) => {
  const { record, isPending, error, refetch } = useEditContext<Row>()
  const id = Number(useParams().id)
  const status = (error as HttpError | null)?.status
  const [base, setBase] = useState<Row>()
  const [clash, setClash] = useState<{ mine: Partial<Row>; theirs: Row }>()
  const [chosen, setChosen] = useState<Record<string, unknown>>()
  const [acting, setActing] = useState<Action>()
  const [asking, setAsking] = useState<Omit<Parameters<typeof Asking>[0], 'onClose'>>()
  const [isChanged, setChanged] = useState(false)
  const [discarded, setDiscarded] = useState(0)
  const isFree = useRef(false)
  const typed = useRef((): Partial<Row> => ({}))
  const provider = useDataProvider<DuetProvider>()
  const notify = useNotify()
  const navigate = useNavigate()
  const client = useQueryClient()
  const model = useModel()
  const current = base && base.id === record?.id ? base : record
  // Asked with the row, and anew once it is saved.
  const { data: may, isPending: isJudged } = useQuery({
    queryKey: ['may', entity.name, [id], base?._etag],
    queryFn: () => provider.may(entity.name, [id]),
    placeholderData: before => before,
    ...{ staleTime: 0, gcTime: 0 },
  })
  if (error)
    return (
      <div className="empty" role="alert">
        <h1>{status === 404 ? t('Not found') : t('It cannot be shown')}</h1>
        <p>
          {error.message}{' '}
          {entity.may.list !== 'no' && <a href={`#${listOf(entity)}`}>{t('Back to the list')}</a>}
        </p>
        {status !== 404 && <Button onClick={() => refetch()}>{t('Try again')}</Button>}
      </div>
    )
  // A row that a list left here lacks its nested rows, its links and its ETag.
  if (isPending || isJudged || !current || !('_etag' in current))
    return (
      <div className="loading" role="status">
        {t('Loading…')}
      </div>
    )
  const { name } = entity
  const words = may?.[current.id] ?? []
  const mayUpdate = entity.may.update !== 'no' && words.includes('update')
  const mayDelete = entity.may.delete !== 'no' && words.includes('delete')
  const read = () => provider.whole(name, current.id)
  const reload = async () => setBase(await read())
  const remove = async () => {
    try {
      await provider.remove(name, current)
      isFree.current = true
      client.invalidateQueries({ queryKey: [name] })
      notify(t('Deleted'), { type: 'success' })
      navigate(listOf(entity), { replace: true })
    } catch (error) {
      setAsking(undefined)
      const { status, message } = error as HttpError
      notify(status === 412 ? t('Somebody changed it meanwhile.') : message, { type: 'error' })
      if (status === 412) await reload()
    }
  }
  const save = async (mine: Partial<Row>) => {
    const write = (base: Row, mine: Partial<Row>) => provider.save(name, base, mine)
    const saved = await saveOver(entity, current, mine, write, read)
    if (saved.kind === 'failed')
      return errorsOf(saved.error, model, entity, 'update', saved.mine, saved.base)
    if (saved.kind === 'clash') {
      setClash({ mine, theirs: saved.theirs })
      return undefined
    }
    // What was typed while it was saved stays, too.
    const now = typed.current()
    const since = membersOf(entity).filter(({ name }) => !same(now[name], mine[name]))
    setChosen(Object.fromEntries(since.map(({ name }) => [name, now[name]])))
    setBase(saved.row)
    client.invalidateQueries({ queryKey: [name, 'getList'] })
    const labels = saved.theirs.join(', ')
    const others = labels && t('Saved, with what others changed meanwhile: {labels}', { labels })
    notify(others || t('Saved'), { type: 'success' })
    return undefined
  }
  const take = (sides: Record<string, Side>) => {
    if (!clash) return
    const { mine, theirs } = clash
    const result = merged(entity, current, mine, theirs, sides)
    const members = membersOf(entity).filter(({ name }) => !same(result[name], theirs[name]))
    setBase(theirs)
    setChosen(Object.fromEntries(members.map(({ name }) => [name, result[name]])))
    setClash(undefined)
  }
  const fixed = entity.fields.filter(
    ({ set, name, hidden }) => !hidden && name !== 'id' && (set !== 'always' || !mayUpdate),
  )
  const facts = (
    <>
      <Facts fields={fixed} row={current} />
      {may && <Missing entity={entity} words={words} />}
    </>
  )
  const actions = entity.actions.filter(({ name }) => words.includes(name))
  const act = (action: Action) => {
    // Its answer would take the place of what was typed.
    if (isChanged)
      notify(t('Save first: what you typed is not part of it yet.'), { type: 'warning' })
    else setActing(action)
  }
  const discard = () => {
    setAsking(undefined)
    setChosen(undefined)
    setDiscarded(discarded + 1)
  }
  const askToDiscard = () =>
    setAsking({
      title: `${t('Discard changes')}?`,
      text: t('What you typed is not saved.'),
      word: t('Discard changes'),
      onYes: discard,
    })
  const askToDelete = () =>
    setAsking({
      title: t('Delete {label}?', { label: titleOf(entity, current) }),
      text: t('This cannot be undone. What belongs to it goes too.'),
      word: t('Delete'),
      onYes: remove,
    })
  const entries = [
    ...actions
      .slice(3)
      .map(action => ({ label: action.label, danger: action.danger, run: () => act(action) })),
    entity.may.create !== 'no' && {
      label: t('Copy as new'),
      run: () => navigate(`/${name}/create`, { state: { record: copyOf(entity, current) } }),
    },
    mayDelete && { label: `${t('Delete')}…`, danger: true, run: askToDelete },
  ]
  return (
    <RecordContextProvider value={current}>
      <header className="head">
        <div>
          <p className="crumb">
            <ListLink entity={entity} /> / #{current.id}
          </p>
          <Heading text={titleOf(entity, current)} />
        </div>
        <div className="head-actions">
          <Neighbours entity={entity} id={current.id} />
          {actions.slice(0, 3).map(action => (
            <Button
              key={action.name}
              tone={action.danger ? 'danger' : undefined}
              onClick={() => act(action)}
            >
              {action.label}
            </Button>
          ))}
          <Menu label={t('More')} icon="more" entries={entries} />
        </div>
      </header>
      <Form key={`${current.id} ${discarded}`} record={current} onSubmit={save} {...quiet}>
        <Merged values={chosen} typed={typed} />
        {mayUpdate ? (
          <>
            <Fields entity={entity} mode="update" row={current}>
              {facts}
            </Fields>
            <SaveBar
              label={t('Save')}
              isForced={Object.keys(chosen ?? {}).length > 0}
              {...{ isFree, onChanged: setChanged, onDiscard: askToDiscard }}
            />
          </>
        ) : (
          facts
        )}
      </Form>
      {entity.relations
        .filter(({ kind }) => kind === 'rows')
        .map(relation => (
          <Related key={relation.name} relation={relation} row={current} />
        ))}
      {acting && (
        <ActionRunner
          {...{ entity, action: acting, row: current, onDone: reload }}
          onClose={() => setActing(undefined)}
        />
      )}
      {asking && <Asking {...asking} onClose={() => setAsking(undefined)} />}
      {clash && (
        <MergeDialog
          {...{ entity, base: current, ...clash, onMerge: take }}
          onClose={() => setClash(undefined)}
        />
      )}
    </RecordContextProvider>
  )
}

/** What a new row takes from another: all that its maker may set, but what no two rows share. */
const copyOf = ({ fields, relations }: Entity, row: Row): Partial<Row> => ({
  ...Object.fromEntries(
    fields.flatMap(({ name, set, kind }) =>
      set === 'never' || kind === 'slug' || kind === 'file' ? [] : [[name, row[name]]],
    ),
  ),
  ...Object.fromEntries(
    relations.flatMap(({ name, kind, by }) => {
      const value = row[name]
      if (!Array.isArray(value) || (kind !== 'links' && kind !== 'nested')) return []
      const own = ({ id: _, _links, [by]: __, ...rest }: Partial<Row>) => rest
      return [[name, kind === 'links' ? value : value.map(own)]]
    }),
  ),
})

export const Edit = ({ name }: { name: string }) => (
  // A form must keep the base that its user saw: a refetch would reset it and give it a newer ETag.
  <EditBase
    key={useParams().id}
    resource={name}
    redirect={false}
    queryOptions={{
      onError: () => {},
      ...{ refetchOnWindowFocus: false, refetchOnReconnect: false, retry: false },
      ...{ staleTime: 0, gcTime: 0 },
    }}
  >
    <EditBody entity={useEntity(name)} />
  </EditBase>
)

/** What a new row begins with and only actions change, such as that it is a draft. */
const isBegun = ({ set, kind, initial, hidden }: Field) =>
  set === 'never' && kind === 'choice' && initial !== undefined && !hidden

export const Create = ({ name }: { name: string }) => {
  const entity = useEntity(name)
  const provider = useDataProvider<DuetProvider>()
  const notify = useNotify()
  const navigate = useNavigate()
  const client = useQueryClient()
  const model = useModel()
  const isFree = useRef(false)
  const { state, search } = useLocation()
  const beside = new URLSearchParams(search)
  const above = entity.fields.find(({ name, to }) => to && beside.has(name))
  // What a form begins with is nothing that somebody typed: the row it is beside, usual values, and oneself as the author.
  const [usual] = useState(() =>
    Object.fromEntries(
      entity.fields.flatMap(({ name, initial, self }) => {
        const value = Number(beside.get(name)) || (self ? model.viewer.id : initial)
        return value === undefined ? [] : [[name, value] as const]
      }),
    ),
  )
  const isCopy = Boolean((state as { record?: unknown } | null)?.record)
  const save = async (mine: Partial<Row>) => {
    try {
      const { id } = await provider.make(name, mine)
      isFree.current = true
      client.invalidateQueries({ queryKey: [name, 'getList'] })
      notify(t('{label} made', { label: entity.label }), { type: 'success' })
      const made = entity.may.one ? `/${name}/${id}` : listOf(entity)
      // The back key leads to what was before, not to a form that would make another.
      navigate(above ? `/${above.to}/${beside.get(above.name)}` : made, { replace: true })
      return undefined
    } catch (error) {
      return errorsOf(error, model, entity, 'create', mine, {})
    }
  }
  return (
    <CreateBase resource={name}>
      <header className="head">
        <div>
          <p className="crumb">
            <ListLink entity={entity} />
          </p>
          <Heading text={t('New {label}', { label: lower(entity.label) })} />
        </div>
      </header>
      <Form record={usual} onSubmit={save} {...quiet}>
        <Fields entity={entity} mode="create">
          <Facts fields={entity.fields.filter(isBegun)} row={{ id: 0, ...usual }} />
        </Fields>
        <SaveBar label={t('Create')} isFree={isFree} isForced={isCopy} isNew />
      </Form>
    </CreateBase>
  )
}
