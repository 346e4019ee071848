/** Counts of all entities, and charts of what they can be grouped by. */
import { useQuery } from '@tanstack/react-query'
import { useDataProvider, useGetMany } from 'ra-core'
import { Bars } from './chart.tsx'
import { useModel } from './context.ts'
import type { DuetProvider } from './data-provider.ts'
import { type Entity, type Field, type Row, titleOf } from './model.ts'
import { Heading } from './ui.tsx'
import { language, lower, t } from './words.ts'

const Count = ({ entity }: { entity: Entity }) => {
  const provider = useDataProvider<DuetProvider>()
  const { data, isError } = useQuery({
    queryKey: ['count', entity.name, {}],
    queryFn: () => provider.count(entity.name),
    enabled: entity.sums,
  })
  return (
    <a className="card count" href={`#/${entity.name}?filter={}`}>
      <span>{entity.labels}</span>
      {entity.sums && <strong>{data?.toLocaleString(language) ?? (isError ? '?' : '…')}</strong>}
    </a>
  )
}

type Group = {
  by: string
  label: string
  /** What is added up, in place of a count. */
  sum?: string
  /** What the groups are of, if they refer to rows. */
  to?: string
  params: Record<string, string>
}

/** The charts that the model names; else those by month of the creation, and by the first choice. */
const groupsOf = ({ fields, charts }: Entity): Group[] => {
  const first = (fits: (field: Field) => unknown) =>
    fields
      .filter(fits)
      .slice(0, 1)
      .map(({ name: group }) => ({ group }))
  const wanted: NonNullable<typeof charts> = charts ?? [
    ...first(({ kind, where, name }) => kind === 'time' && where && /^created/.test(name)),
    ...first(({ kind, where }) => kind === 'choice' && where),
  ]
  return wanted.flatMap(({ group, sum }) => {
    const field = fields.find(({ name }) => name === group)
    const summed = fields.find(({ name }) => name === sum)
    if (!field?.where || (sum !== undefined && !summed?.where)) return []
    const isTime = field.kind === 'time'
    const by = isTime ? `${group}Month` : group
    return {
      by,
      ...(summed && { sum: summed.name }),
      label: `${summed ? `– ${summed.label} ` : ''}${isTime ? t('by month') : t('by {label}', { label: lower(field.label) })}`,
      ...(field.to !== undefined && { to: field.to }),
      params: {
        group: by,
        limit: '12',
        sort: isTime ? `-${by}` : summed ? `-sum.${summed.name}` : '-count',
        ...(summed && { sum: summed.name }),
        ...(isTime && { tz: Intl.DateTimeFormat().resolvedOptions().timeZone }),
      },
    }
  })
}

const months = new Intl.DateTimeFormat(language, { month: 'short', year: 'numeric' })

const Chart = ({ entity, group }: { entity: Entity; group: Group }) => {
  const provider = useDataProvider<DuetProvider>()
  const { data, error } = useQuery({
    queryKey: ['sums', entity.name, group],
    queryFn: () => provider.sums(entity.name, new URLSearchParams(group.params)),
  })
  const isTime = group.by.endsWith('Month')
  const ids = group.to ? (data ?? []).flatMap(row => Number(row[group.by]) || []) : []
  const { data: named } = useGetMany<Row>(group.to ?? '', { ids }, { enabled: ids.length > 0 })
  const target = useModel().entities.find(({ name }) => name === group.to)
  const wordsOf = (value: unknown) => {
    if ((value ?? null) === null) return '–'
    if (isTime) return months.format(new Date(`${value}-15T12:00:00`))
    if (group.to === undefined) return String(value)
    return titleOf(target, named?.find(({ id }) => id === value) ?? { id: Number(value) })
  }
  const rows = (isTime ? [...(data ?? [])].reverse() : (data ?? [])).map(row => ({
    label: wordsOf(row[group.by]),
    value: Number((group.sum === undefined ? row.count : row.sum?.[group.sum]) ?? 0),
  }))
  return (
    <section className="card">
      <h2>
        {entity.labels} {group.label}
      </h2>
      {rows.length === 0 ? (
        <p className="muted">{error?.message ?? (data ? t('None.') : '…')}</p>
      ) : (
        <Bars title={`${entity.labels} ${group.label}`} rows={rows} />
      )}
    </section>
  )
}

export const Dashboard = () => {
  const { title, entities, viewer } = useModel()
  const listed = entities.filter(({ may, hidden }) => may.list !== 'no' && !hidden)
  return (
    <>
      <header className="head">
        <Heading text={title} />
      </header>
      {listed.length === 0 && (
        <p className="empty">
          {t('Nothing here is open to you. You are signed in with the role {role}.', {
            role: viewer.role,
          })}
        </p>
      )}
      <div className="cards counts">
        {listed.map(entity => (
          <Count key={entity.name} entity={entity} />
        ))}
      </div>
      <div className="cards">
        {listed
          .filter(({ sums }) => sums)
          .flatMap(entity =>
            groupsOf(entity).map(group => (
              <Chart key={entity.name + group.by + group.sum} entity={entity} group={group} />
            )),
          )}
      </div>
    </>
  )
}
