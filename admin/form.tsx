/** Making and changing a row with its parts; faults of the service beside their fields; what others changed meanwhile is merged. */

import { useQuery, useQueryClient } from '@tanstack/react-query'
import {
  CreateBase,
  EditBase,
  Form,
  RecordContextProvider,
  useDataProvider,
  useEditContext,
  useNavigate,
  useNotify,
} from 'ra-core'
import { type ReactNode, useEffect, useState } from 'react'
import { useFieldArray, useFormContext, useFormState } from 'react-hook-form'
import { ActionRunner } from './actions.tsx'
import { faultsOf } from './api.ts'
import { type DuetProvider, placeOf } from './data-provider.ts'
import { Input, LinksInput } from './inputs.tsx'
import { conflictsOf, MergeDialog, merged } from './merge.tsx'
import {
  type Action,
  type Entity,
  entityNamed,
  type Relation,
  titleOf,
  useEntity,
  useModel,
} from './model.ts'
import { Value } from './show.tsx'
import { Button, Dialog, Icon, Menu } from './ui.tsx'

/** The rows that belong to this one, changed with it in one save. */
const Parts = ({
  relation,
  mode,
  disabled,
}: {
  relation: Relation
  mode: 'create' | 'update'
  disabled: boolean
}) => {
  const to = entityNamed(useModel(), relation.to)
  const { control } = useFormContext()
  const {
    fields: rows,
    append,
    remove,
  } = useFieldArray({ control, name: relation.name, keyName: '_key' })
  if (!to) return null
  const words = relation.words?.[mode] ?? []
  const columns = to.fields.filter(({ set, name }) => set !== 'never' && name !== relation.by)
  return (
    <fieldset className="parts" disabled={disabled}>
      <legend>{relation.label}</legend>
      {rows.length > 0 && (
        <table className="table edit">
          <thead>
            <tr>
              {columns.map(({ name, label, required }) => (
                <th key={name} scope="col">
                  {label}
                  {required && (
                    <span className="required" aria-hidden="true">
                      *
                    </span>
                  )}
                </th>
              ))}
              <th scope="col">
                <span className="hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row: any, at) => (
              <tr key={row._key}>
                {columns.map(field => (
                  <td key={field.name} data-label={field.label}>
                    <Input
                      field={field}
                      source={`${relation.name}.${at}.${field.name}`}
                      bare
                      disabled={row.id !== undefined && !words.includes('update')}
                    />
                  </td>
                ))}
                <td>
                  {(row.id === undefined || words.includes('delete')) && (
                    <Button
                      tone="quiet"
                      className="icon"
                      aria-label={`Remove ${to.label.toLowerCase()} ${at + 1}`}
                      onClick={() => remove(at)}
                    >
                      <Icon name="trash" />
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {words.includes('create') && (
        <Button
          onClick={() =>
            append(Object.fromEntries(columns.map(({ name, initial }) => [name, initial ?? null])))
          }
        >
          <Icon name="plus" />
          Add {to.label.toLowerCase()}
        </Button>
      )}
    </fieldset>
  )
}

const Fields = ({
  entity,
  mode,
  disabled,
}: {
  entity: Entity
  mode: 'create' | 'update'
  disabled: boolean
}) => {
  const given = entity.fields.filter(
    ({ set }) => set === 'always' || (set === 'create' && mode === 'create'),
  )
  const wide = given.filter(({ kind, place }) =>
    place ? place === 'main' : ['text', 'slug', 'long', 'json', 'list', 'uri'].includes(kind),
  )
  const short = given.filter(field => !wide.includes(field))
  return (
    <div className="fields">
      <div className="body">
        {wide.map(field => (
          <Input key={field.name} field={field} disabled={disabled} />
        ))}
        {entity.relations
          .filter(({ kind }) => kind === 'parts')
          .map(relation => (
            <Parts key={relation.name} relation={relation} mode={mode} disabled={disabled} />
          ))}
      </div>
      <div className="side">
        {short.map(field => (
          <Input key={field.name} field={field} disabled={disabled} />
        ))}
        {entity.relations
          .filter(({ kind, words }) => kind === 'links' && (words?.[mode].length ?? 0) > 0)
          .map(({ name, label, to }) => (
            <LinksInput key={name} source={name} label={label} to={to} disabled={disabled} />
          ))}
      </div>
    </div>
  )
}

/** Saves with Ctrl-S too, and says whether there is anything to save. */
const SaveBar = ({
  children,
  label,
  forced = false,
}: {
  children?: ReactNode
  label: string
  forced?: boolean
}) => {
  const { isDirty: isTyped, isSubmitting } = useFormState()
  // Values that a merge gave are not what the form calls dirty.
  const isDirty = isTyped || forced
  useEffect(() => {
    const save = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      document.querySelector<HTMLFormElement>('form.record')?.requestSubmit()
    }
    const leave = (event: BeforeUnloadEvent) => {
      if (isDirty && !isSubmitting) event.preventDefault()
    }
    addEventListener('keydown', save)
    addEventListener('beforeunload', leave)
    return () => {
      removeEventListener('keydown', save)
      removeEventListener('beforeunload', leave)
    }
  }, [isDirty, isSubmitting])
  return (
    <div className="save-bar">
      {children}
      <span className="muted" role="status">
        {isSubmitting ? 'Saving…' : isDirty ? 'Not saved' : ''}
      </span>
      <Button
        type="submit"
        tone="main"
        aria-disabled={isSubmitting || !isDirty}
        onClick={event => {
          if (isSubmitting || !isDirty) event.preventDefault()
        }}
      >
        {label}
        <kbd aria-hidden="true">Ctrl S</kbd>
      </Button>
    </div>
  )
}

/** The faults of a refusal by the places of the form; those without a place are said at its top. */
const errorsOf = (error: unknown, entity: Entity, mine: any, base: any) => {
  const faults = faultsOf(error)
  if (faults.length === 0) return { root: { serverError: (error as Error).message } }
  const known = (name: string) =>
    entity.fields.some(field => field.name === name) ||
    entity.relations.some(relation => relation.name === name)
  const errors: any = {}
  const rest: string[] = []
  for (const { field, message } of faults) {
    const path = placeOf(field, mine, base).split('.')
    if (!known(path[0] ?? '')) {
      rest.push(`${field} ${message}`)
      continue
    }
    let at = errors
    for (const key of path.slice(0, -1)) at = at[key] ??= {}
    at[path.at(-1) ?? ''] = message
  }
  if (rest.length) errors.root = { serverError: rest.join('; ') }
  return errors
}

const FormFault = () => {
  const { errors } = useFormState()
  const message = (errors.root as any)?.serverError?.message
  return message ? (
    <p className="fault box" role="alert">
      {String(message)}
    </p>
  ) : null
}

/** Sets values that a merge gave, so that the form knows that they are not saved. */
const Merged = ({ values }: { values: Record<string, unknown> | undefined }) => {
  const { setValue } = useFormContext()
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

const Related = ({ relation, row }: { relation: Relation; row: any }) => {
  const to = entityNamed(useModel(), relation.to)
  const provider = useDataProvider<DuetProvider>()
  const { data } = useQuery({
    queryKey: ['related', relation.path, row.id],
    enabled: Boolean(to && relation.path),
    queryFn: () =>
      provider.getManyReference(relation.to, {
        target: relation.by,
        id: row.id,
        pagination: { page: 1, perPage: 5 },
        sort: { field: 'id', order: 'DESC' },
        filter: {},
        meta: { path: relation.path },
      }),
  })
  const rows: any[] = relation.embedded ? (row[relation.name] ?? []) : (data?.data ?? [])
  if (!to && !relation.embedded) return null
  return (
    <section className="related">
      <h2>{relation.label}</h2>
      {rows.length === 0 ? (
        <p className="muted">None.</p>
      ) : (
        <ul>
          {rows.map((one, at) => (
            <li key={one.id ?? at}>
              {to?.may.one && one.id ? (
                <a href={`#/${relation.to}/${one.id}`}>{titleOf(to, one)}</a>
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
      {(data as any)?.pageInfo?.hasNextPage || (data?.total ?? 0) > 5 ? (
        <p className="muted">and more</p>
      ) : null}
    </section>
  )
}

const EditBody = ({ entity }: { entity: Entity }) => {
  const { record, isPending, error } = useEditContext()
  const [base, setBase] = useState<any>()
  const [clash, setClash] = useState<{ mine: any; theirs: any }>()
  const [chosen, setChosen] = useState<Record<string, unknown>>()
  const [acting, setActing] = useState<Action>()
  const [deleting, setDeleting] = useState(false)
  const provider = useDataProvider<DuetProvider>()
  const notify = useNotify()
  const navigate = useNavigate()
  const client = useQueryClient()
  const current = base?.id === record?.id && base ? base : record
  const { data: may } = useQuery({
    queryKey: ['may', entity.name, [record?.id], current?._etag],
    queryFn: () => provider.may(entity.name, [record?.id]),
    enabled: record !== undefined,
    placeholderData: before => before,
  })
  if (error)
    return (
      <div className="empty" role="alert">
        <h1>Not found</h1>
        <p>
          {(error as Error).message} <a href={`#/${entity.name}`}>Back to the list</a>
        </p>
      </div>
    )
  // A row that a list left here lacks its parts, its links and its ETag.
  if (isPending || !current || !('_etag' in current))
    return (
      <div className="loading" role="status">
        Loading…
      </div>
    )
  const words = may?.[current.id] ?? []
  const mayUpdate = entity.may.update !== 'no' && words.includes('update')
  const reload = async () => setBase((await provider.getOne(entity.name, { id: current.id })).data)
  const save = async (mine: any) => {
    try {
      const { data } = await provider.update(entity.name, {
        id: current.id,
        data: mine,
        previousData: current,
      })
      setChosen(undefined)
      setBase(data)
      client.invalidateQueries({ queryKey: [entity.name, 'getList'] })
      notify('Saved', { type: 'success' })
    } catch (error: any) {
      if (error.status !== 412) return errorsOf(error, entity, mine, current)
      const { data: theirs } = await provider.getOne(entity.name, { id: current.id })
      // What only one side changed needs nobody's choice.
      if (conflictsOf(entity, current, mine, theirs).length === 0) {
        const both = merged(entity, current, mine, theirs, {})
        try {
          const { data } = await provider.update(entity.name, {
            id: current.id,
            data: both,
            previousData: theirs,
          })
          setBase(data)
          notify('Saved, with what others changed meanwhile', { type: 'success' })
          return undefined
        } catch (again: any) {
          if (again.status !== 412) return errorsOf(again, entity, both, theirs)
        }
      }
      setClash({ mine, theirs })
    }
    return undefined
  }
  const remove = async () => {
    try {
      await provider.delete(entity.name, { id: current.id, previousData: current })
      client.invalidateQueries({ queryKey: [entity.name] })
      notify('Deleted', { type: 'success' })
      navigate(`/${entity.name}`)
    } catch (error) {
      setDeleting(false)
      notify(
        (error as any).status === 412
          ? 'Somebody changed it meanwhile: look at it again before you delete it.'
          : (error as Error).message,
        { type: 'error' },
      )
      await reload()
    }
  }
  const fixed = entity.fields.filter(
    ({ set, name, hidden }) =>
      !hidden && name !== 'id' && (set === 'never' || set === 'create' || !mayUpdate),
  )
  const actions = entity.actions.filter(({ name }) => words.includes(name))
  return (
    <RecordContextProvider value={current}>
      <header className="head">
        <div>
          <p className="crumb">
            <a href={`#/${entity.name}`}>{entity.labels}</a> / #{current.id}
          </p>
          <h1>{titleOf(entity, current)}</h1>
        </div>
        <div className="head-actions">
          {actions.slice(0, 3).map(action => (
            <Button
              key={action.name}
              tone={action.danger ? 'danger' : undefined}
              onClick={() => setActing(action)}
            >
              {action.label}
            </Button>
          ))}
          {(actions.length > 3 || (entity.may.delete !== 'no' && words.includes('delete'))) && (
            <Menu
              label="More"
              icon="more"
              entries={[
                ...actions.slice(3).map(action => ({
                  label: action.label,
                  danger: action.danger,
                  run: () => setActing(action),
                })),
                ...(entity.may.delete !== 'no' && words.includes('delete')
                  ? [{ label: 'Delete…', danger: true, run: () => setDeleting(true) }]
                  : []),
              ]}
            />
          )}
        </div>
      </header>
      <Form key={current.id} record={current} onSubmit={save} className="record" noValidate>
        <FormFault />
        <Merged values={chosen} />
        {mayUpdate && <Fields entity={entity} mode="update" disabled={!mayUpdate} />}
        {fixed.length > 0 && (
          <dl className="facts">
            {fixed.map(field => (
              <div key={field.name}>
                <dt>{field.label}</dt>
                <dd>
                  <Value field={field} value={current[field.name]} />
                </dd>
              </div>
            ))}
          </dl>
        )}
        {mayUpdate && <SaveBar label="Save" forced={Object.keys(chosen ?? {}).length > 0} />}
      </Form>
      {entity.relations
        .filter(({ kind }) => kind === 'rows')
        .map(relation => (
          <Related key={relation.name} relation={relation} row={current} />
        ))}
      {acting && (
        <ActionRunner
          entity={entity}
          action={acting}
          row={current}
          onClose={() => setActing(undefined)}
          onDone={reload}
        />
      )}
      {deleting && (
        <Dialog title={`Delete ${titleOf(entity, current)}?`} onClose={() => setDeleting(false)}>
          <p>This cannot be undone. What belongs to it goes too.</p>
          <div className="dialog-actions">
            <Button tone="danger" onClick={remove}>
              Delete
            </Button>
          </div>
        </Dialog>
      )}
      {clash && (
        <MergeDialog
          entity={entity}
          base={current}
          mine={clash.mine}
          theirs={clash.theirs}
          onClose={() => setClash(undefined)}
          onMerge={values => {
            setClash(undefined)
            const result = merged(entity, current, clash.mine, clash.theirs, values)
            setBase(clash.theirs)
            setChosen(changesBetween(entity, clash.theirs, result))
          }}
        />
      )}
    </RecordContextProvider>
  )
}

/** What a merge changes of the newest state, by members. */
const changesBetween = (entity: Entity, theirs: any, result: any) =>
  Object.fromEntries(
    [...entity.fields, ...entity.relations]
      .filter(
        ({ name }) =>
          name in result &&
          JSON.stringify(result[name] ?? null) !== JSON.stringify(theirs[name] ?? null),
      )
      .map(({ name }) => [name, result[name]]),
  )

export const Edit = ({ name }: { name: string }) => (
  // A form must keep the base that its user saw: a refetch would reset it and give it a newer ETag.
  <EditBase
    key={location.hash}
    resource={name}
    redirect={false}
    queryOptions={
      {
        onError: () => {},
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        staleTime: 0,
        gcTime: 0,
        retry: false,
      } as any
    }
    mutationMode="pessimistic"
  >
    <EditBody entity={useEntity(name)} />
  </EditBase>
)

export const Create = ({ name }: { name: string }) => {
  const entity = useEntity(name)
  const provider = useDataProvider<DuetProvider>()
  const notify = useNotify()
  const navigate = useNavigate()
  const client = useQueryClient()
  const save = async (mine: any) => {
    try {
      const { data } = await provider.create(name, { data: mine })
      client.invalidateQueries({ queryKey: [name, 'getList'] })
      notify(`${entity.label} made`, { type: 'success' })
      navigate(`/${name}/${data.id}`)
      return undefined
    } catch (error) {
      return errorsOf(error, entity, mine, {})
    }
  }
  return (
    <CreateBase resource={name}>
      <header className="head">
        <div>
          <p className="crumb">
            <a href={`#/${name}`}>{entity.labels}</a>
          </p>
          <h1>New {entity.label.toLowerCase()}</h1>
        </div>
      </header>
      <Form onSubmit={save} className="record" noValidate>
        <FormFault />
        <Fields entity={entity} mode="create" disabled={false} />
        <SaveBar label="Create" />
      </Form>
    </CreateBase>
  )
}
