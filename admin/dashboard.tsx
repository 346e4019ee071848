/** Counts of all entities, and charts of what they can be grouped by. */
import { useQuery } from '@tanstack/react-query'
import { useDataProvider } from 'ra-core'
import { Bars } from './chart.tsx'
import type { DuetProvider } from './data-provider.ts'
import { type Entity, useModel } from './model.ts'

const Count = ({ entity }: { entity: Entity }) => {
  const provider = useDataProvider<DuetProvider>()
  const { data } = useQuery({
    queryKey: ['count', entity.name, {}],
    queryFn: () => provider.count(entity.name),
  })
  return (
    <a className="card count" href={`#/${entity.name}`}>
      <span>{entity.labels}</span>
      <strong>{data === undefined ? '…' : data.toLocaleString()}</strong>
    </a>
  )
}

type Group = { by: string; label: string; params: Record<string, string> }
const groupsOf = (entity: Entity): Group[] => [
  ...entity.fields
    .filter(({ kind, where, name }) => kind === 'time' && where && /^created/.test(name))
    .slice(0, 1)
    .map(({ name }) => ({
      by: `${name}Month`,
      label: 'by month',
      params: {
        group: `${name}Month`,
        sort: `-${name}Month`,
        limit: '12',
        tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
      },
    })),
  ...entity.fields
    .filter(({ kind, where }) => kind === 'choice' && where)
    .slice(0, 1)
    .map(({ name, label }) => ({
      by: name,
      label: `by ${label.toLowerCase()}`,
      params: { group: name, limit: '12', sort: '-count' },
    })),
]

const Chart = ({ entity, group }: { entity: Entity; group: Group }) => {
  const provider = useDataProvider<DuetProvider>()
  const { data } = useQuery<any[]>({
    queryKey: ['sums', entity.name, group],
    queryFn: () => provider.sums(entity.name, group.params),
  })
  const isTime = group.by.endsWith('Month')
  const rows = (isTime ? [...(data ?? [])].reverse() : (data ?? [])).map(row => ({
    label: String(row[group.by] ?? '–'),
    value: Number(row.count),
  }))
  return (
    <section className="card">
      <h2>
        {entity.labels} {group.label}
      </h2>
      {data === undefined ? (
        <p className="muted">…</p>
      ) : rows.length === 0 ? (
        <p className="muted">Nothing yet.</p>
      ) : (
        <Bars title={`${entity.labels} ${group.label}`} rows={rows} />
      )}
    </section>
  )
}

export const Dashboard = () => {
  const { title, entities } = useModel()
  const listed = entities.filter(({ may, sums }) => may.list !== 'no' && sums)
  return (
    <>
      <header className="head">
        <h1>{title}</h1>
      </header>
      <div className="cards counts">
        {listed.map(entity => (
          <Count key={entity.name} entity={entity} />
        ))}
      </div>
      <div className="cards">
        {listed.flatMap(entity =>
          groupsOf(entity).map(group => (
            <Chart key={entity.name + group.by} entity={entity} group={group} />
          )),
        )}
      </div>
    </>
  )
}
