/** Runs an action on a row: asks for its input if it has one, and says what came of it. */
import { useDataProvider, useNotify, useRefresh } from 'ra-core'
import { useState } from 'react'
import { faultsOf } from './api.ts'
import type { DuetProvider } from './data-provider.ts'
import { type Action, type Entity, type Row, titleOf } from './model.ts'
import { isNumber } from './show.tsx'
import { Button, Dialog } from './ui.tsx'
import { t } from './words.ts'

export const ActionRunner = ({
  entity,
  action,
  row,
  onClose,
  onDone,
}: {
  entity: Entity
  action: Action
  row: Row
  onClose: () => void
  onDone?: () => void
}) => {
  const provider = useDataProvider<DuetProvider>()
  const notify = useNotify()
  const refresh = useRefresh()
  const [values, setValues] = useState<Record<string, string>>({})
  const [faults, setFaults] = useState<Record<string, string>>({})
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    const body =
      action.input.length > 0
        ? Object.fromEntries(
            action.input.flatMap(field => {
              const text = values[field.name]
              return text === undefined || text === ''
                ? []
                : [[field.name, isNumber(field) ? Number(text) : text]]
            }),
          )
        : undefined
    try {
      await provider.act(action, row, body)
      notify(t('{label}: done', { label: action.label }), { type: 'success' })
      onClose()
      onDone?.()
      refresh()
    } catch (error) {
      const found = faultsOf(error)
      setFaults({
        '': (error as Error).message,
        ...Object.fromEntries(found.map(({ field, message }) => [field, message])),
      })
    }
    setBusy(false)
  }
  return (
    <Dialog title={action.label} onClose={onClose}>
      <form
        className="stack"
        onSubmit={event => {
          event.preventDefault()
          run()
        }}
      >
        <p>
          {entity.label}: <strong>{titleOf(entity, row)}</strong>
        </p>
        {action.input.map(({ name, label, of, ...field }) => (
          <label key={name}>
            {label}
            {of ? (
              <select
                className="input"
                onChange={event => setValues({ ...values, [name]: event.target.value })}
              >
                <option value="" />
                {of.map(word => (
                  <option key={word}>{word}</option>
                ))}
              </select>
            ) : (
              <input
                className="input"
                type={isNumber(field) ? 'number' : 'text'}
                step="any"
                onChange={event => setValues({ ...values, [name]: event.target.value })}
              />
            )}
            {faults[name] && <span className="fault">{faults[name]}</span>}
          </label>
        ))}
        {faults[''] && (
          <p className="fault" role="alert">
            {faults['']}
          </p>
        )}
        <div className="dialog-actions">
          <Button tone="quiet" onClick={onClose}>
            {t('Cancel')}
          </Button>
          <Button type="submit" tone={action.danger ? 'danger' : 'main'} disabled={busy}>
            {action.label}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
