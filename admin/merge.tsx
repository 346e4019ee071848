/** Two people changed one row: what one side alone changed is taken, the rest is chosen field by field. */
import { useState } from 'react'
import { conflictsOf, type Member, membersOf, rowsIn, type Side, same } from './changes.ts'
import { useModel } from './context.ts'
import { type Entity, entityNamed, type Field, type Row } from './model.ts'
import { RowLink, Value } from './show.tsx'
import { Button, Dialog } from './ui.tsx'
import { t } from './words.ts'

const Shown = ({ member, value }: { member: Member; value: unknown }) => {
  const model = useModel()
  const { kind, to = '' } = member
  if (kind === 'long') return <p className="text">{String(value ?? '')}</p>
  if (kind !== 'nested' && kind !== 'links')
    return <Value bare field={member as Field} value={value} />
  const told = entityNamed(model, to)?.fields.filter(
    ({ name, set }) => set !== 'never' && name !== member.by,
  )
  return (
    <ul>
      {kind === 'links'
        ? (value as number[]).map(id => (
            <li key={id}>
              <RowLink bare to={to} id={id} />
            </li>
          ))
        : rowsIn(value).map((row, at) => (
            <li key={row.id ?? at}>
              {told
                ?.map(({ name }) => row[name])
                .filter(one => one !== null && one !== undefined && one !== '')
                .join(' · ')}
            </li>
          ))}
    </ul>
  )
}

export const MergeDialog = ({
  entity,
  base,
  mine,
  theirs,
  onClose,
  onMerge,
}: {
  entity: Entity
  base: Row
  mine: Partial<Row>
  theirs: Row
  onClose: () => void
  onMerge: (chosen: Record<string, Side>) => void
}) => {
  const conflicts = conflictsOf(entity, base, mine, theirs)
  const others = membersOf(entity).filter(
    ({ name }) => !same(theirs[name], base[name]) && !conflicts.some(one => one.name === name),
  )
  const [chosen, setChosen] = useState<Record<string, Side>>({})
  const isWhole = conflicts.every(({ name }) => chosen[name])
  return (
    <Dialog title={t('Somebody else changed this meanwhile')} onClose={onClose} wide>
      <p>
        {t('Choose what shall stay. Nothing is saved yet.')}{' '}
        {others.length > 0 &&
          t('What else they changed is kept: {labels}.', {
            labels: others.map(({ label }) => label).join(', '),
          })}
      </p>
      <div className="merge">
        {conflicts.map(member => (
          <fieldset key={member.name}>
            <legend>{member.label}</legend>
            <div className="was">
              <span className="muted">{t('Before')}</span>
              <Shown member={member} value={base[member.name]} />
            </div>
            {(['mine', 'theirs'] as const).map(side => (
              <label key={side} className="side-choice">
                <input
                  type="radio"
                  name={member.name}
                  checked={chosen[member.name] === side}
                  onChange={() => setChosen({ ...chosen, [member.name]: side })}
                />
                <span>
                  <b>{side === 'mine' ? t('Yours') : t('Theirs')}</b>
                  <Shown member={member} value={(side === 'mine' ? mine : theirs)[member.name]} />
                </span>
              </label>
            ))}
          </fieldset>
        ))}
      </div>
      <div className="dialog-actions">
        <Button tone="quiet" onClick={onClose}>
          {t('Back')}
        </Button>
        <Button tone="main" disabled={!isWhole} onClick={() => onMerge(chosen)}>
          {t('Take these')}
        </Button>
      </div>
    </Dialog>
  )
}
