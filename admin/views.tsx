/** Saved views of a list: filters, order and columns under a name, one's own or of a role. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useDataProvider, useListContext, useNavigate, useNotify } from 'ra-core'
import { useState } from 'react'
import { useModel } from './context.ts'
import type { DuetProvider, Filter, SavedView } from './data-provider.ts'
import type { Entity } from './model.ts'
import { Button, Dialog, Menu } from './ui.tsx'
import { t } from './words.ts'

const labelOf = ({ name, role }: SavedView) => (role === undefined ? name : `${name} (${role})`)

export const Views = ({
  entity,
  columns,
  onColumns,
}: {
  entity: Entity
  columns: string[]
  onColumns: (columns: string[]) => void
}) => {
  const { filterValues, sort, perPage } = useListContext()
  const { viewer } = useModel()
  const provider = useDataProvider<DuetProvider>()
  const navigate = useNavigate()
  const notify = useNotify()
  const client = useQueryClient()
  const [isSaving, setSaving] = useState(false)
  const queryKey = ['views', entity.name]
  const { data: views = [] } = useQuery({
    queryKey,
    queryFn: () => provider.views(entity.name),
    staleTime: 300_000,
  })
  const changed = async (said: string, what: () => Promise<void>) => {
    try {
      await what()
      setSaving(false)
      notify(said, { type: 'success' })
    } catch (error) {
      notify((error as Error).message, { type: 'error' })
    }
    client.invalidateQueries({ queryKey })
  }
  const open = ({ shows }: SavedView) => {
    // A view may be older than the model: what is not there any more is left out.
    const isKnown = (name: string) => entity.fields.some(field => field.name === name)
    onColumns(shows.columns.filter(isKnown))
    const where = (shows.filter.where ?? []).filter(({ field }) => isKnown(field))
    const filter: Filter = { ...shows.filter, where }
    const params = new URLSearchParams({
      ...{ filter: JSON.stringify(filter), page: '1', perPage: String(shows.perPage) },
      ...(isKnown(shows.sort.field) && { sort: shows.sort.field, order: shows.sort.order }),
    })
    navigate(`/${entity.name}?${params}`)
  }
  const shows = {
    filter: filterValues as Filter,
    sort: sort as SavedView['shows']['sort'],
    ...{ columns, perPage },
  }
  return (
    <>
      <Menu
        label={t('Views')}
        icon="eye"
        text={t('Views')}
        entries={[
          ...views.map(view => ({
            label: labelOf(view),
            run: () => open(view),
          })),
          {
            label: views.length > 0 ? t('Save or delete views…') : `${t('Save this view')}…`,
            run: () => setSaving(true),
          },
        ]}
      />
      {isSaving && (
        <Dialog title={t('Save this view')} onClose={() => setSaving(false)}>
          <form
            className="stack"
            onSubmit={event => {
              event.preventDefault()
              const given = new FormData(event.currentTarget)
              const name = String(given.get('name')).trim()
              const role = String(given.get('role') ?? '')
              const whose = role === '' ? {} : { role }
              changed(t('Saved'), () => provider.saveView(entity.name, { name, ...whose, shows }))
            }}
          >
            <label>
              {t('Name')}
              <input className="input" name="name" required maxLength={60} autoComplete="off" />
            </label>
            {viewer.roles && (
              <label>
                {t('Who sees it')}
                <select className="input" name="role">
                  <option value="">{t('I alone')}</option>
                  {viewer.roles.map(role => (
                    <option key={role} value={role}>
                      {t('Everybody with the role {role}', { role })}
                    </option>
                  ))}
                </select>
              </label>
            )}
            <div className="dialog-actions">
              <Button type="submit" tone="main">
                {t('Save')}
              </Button>
            </div>
          </form>
          {views.length > 0 && (
            <ul className="left">
              {views
                .filter(({ role }) => role === undefined || viewer.roles)
                .map(view => (
                  <li key={`${view.role}/${view.name}`}>
                    <Button
                      tone="quiet"
                      onClick={() =>
                        changed(t('Deleted'), () => provider.deleteView(entity.name, view))
                      }
                    >
                      {t('Delete the view {label}', { label: labelOf(view) })}
                    </Button>
                  </li>
                ))}
            </ul>
          )}
        </Dialog>
      )}
    </>
  )
}
