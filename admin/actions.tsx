/** Runs an action on a row: asks for its input if it has one, and says what came of it. */
import { useDataProvider, useNotify, useRefresh } from 'ra-core'
import { useState } from 'react'
import { faultsOf, saidOf } from './api.ts'
import type { DuetProvider } from './data-provider.ts'
import { Fault, FieldLabel, KindInput } from './inputs.tsx'
import { type Action, type Entity, type Row, titleOf } from './model.ts'
import { Alert, Button, Dialog } from './ui.tsx'
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
  const [values, setValues] = useState<Record<string, unknown>>(() =>
    Object.fromEntries(action.input.map(({ name, initial = null }) => [name, initial])),
  )
  const [faults, setFaults] = useState<Record<string, string>>({})
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    const body =
      action.input.length > 0
        ? Object.fromEntries(Object.entries(values).filter(([, one]) => (one ?? '') !== ''))
        : undefined
    try {
      await provider.act(action, row, body)
      notify(t('{label}: done', { label: action.label }), { type: 'success' })
      onClose()
      onDone?.()
      refresh()
    } catch (error) {
      const isOutdated = (error as { status?: number }).status === 412
      const plain = action.input.length > 0 ? saidOf(error) : (error as Error).message
      const said = isOutdated ? t('Somebody changed it meanwhile.') : plain
      if (isOutdated) {
        // It is shown as it is now, so that whoever goes on knows on what.
        onDone?.()
        refresh()
        if (action.input.length === 0) {
          notify(said, { type: 'warning' })
          return onClose()
        }
      }
      const found = faultsOf(error)
      setFaults({
        '': said,
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
        {action.input.map(field => {
          const { name, label } = field
          const id = `input-${name}`
          return (
            <div key={name} className="field">
              <label htmlFor={id}>
                <FieldLabel field={field} />
              </label>
              <KindInput
                {...{ id, field, value: values[name] }}
                aria-label={label}
                aria-invalid={name in faults || undefined}
                aria-describedby={name in faults ? `${id}-fault` : undefined}
                onChange={value => setValues(now => ({ ...now, [name]: value }))}
              />
              <Fault id={id} text={faults[name]} />
            </div>
          )
        })}
        <Alert text={faults['']} />
        <div className="dialog-actions">
          <Button tone="quiet" onClick={onClose}>
            {t('Back')}
          </Button>
          <Button type="submit" tone={action.danger ? 'danger' : 'main'} disabled={busy}>
            {action.label}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
