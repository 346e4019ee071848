/** Two people changed one row: what one side alone changed is taken, the rest is chosen field by field. */
import { useState } from 'react'
import type { Entity } from './model.ts'
import { Value } from './show.tsx'
import { Button, Dialog } from './ui.tsx'

const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

type Member = { name: string; label: string; kind: string }
const membersOf = (entity: Entity): Member[] => [
  ...entity.fields.filter(({ set }) => set === 'always'),
  ...entity.relations.filter(({ kind }) => kind === 'parts' || kind === 'links'),
]

export const conflictsOf = (entity: Entity, base: any, mine: any, theirs: any): Member[] =>
  membersOf(entity).filter(
    ({ name }) =>
      !same(mine[name], base[name]) &&
      !same(theirs[name], base[name]) &&
      !same(mine[name], theirs[name]),
  )

/** Theirs, with mine where only I changed it, and where I chose it. */
export const merged = (
  entity: Entity,
  base: any,
  mine: any,
  theirs: any,
  chosen: Record<string, 'mine' | 'theirs'>,
): any => {
  const result = { ...theirs }
  for (const { name } of membersOf(entity)) {
    const isMine = !same(mine[name], base[name])
    const isTheirs = !same(theirs[name], base[name])
    if (isMine && (!isTheirs || chosen[name] === 'mine')) result[name] = mine[name]
  }
  return result
}

const Shown = ({ member, value }: { member: Member; value: any }) =>
  member.kind === 'parts' ? (
    <ul>
      {(value ?? []).map((row: any, at: number) => (
        <li key={row.id ?? at}>
          {Object.entries(row)
            .filter(
              ([name, one]) => !name.startsWith('_') && name !== 'id' && typeof one !== 'object',
            )
            .map(([, one]) => String(one))
            .join(' · ')}
        </li>
      ))}
    </ul>
  ) : member.kind === 'links' ? (
    <span>{(value ?? []).map((id: number) => `#${id}`).join(', ')}</span>
  ) : member.kind === 'long' ? (
    <p className="text">{String(value ?? '')}</p>
  ) : (
    <Value field={member as never} value={value} />
  )

export const MergeDialog = ({
  entity,
  base,
  mine,
  theirs,
  onClose,
  onMerge,
}: {
  entity: Entity
  base: any
  mine: any
  theirs: any
  onClose: () => void
  onMerge: (chosen: Record<string, 'mine' | 'theirs'>) => void
}) => {
  const conflicts = conflictsOf(entity, base, mine, theirs)
  const others = membersOf(entity).filter(
    ({ name }) => !same(theirs[name], base[name]) && same(mine[name], base[name]),
  )
  const [chosen, setChosen] = useState<Record<string, 'mine' | 'theirs'>>({})
  const isWhole = conflicts.every(({ name }) => chosen[name])
  return (
    <Dialog title="Somebody else changed this meanwhile" onClose={onClose} wide>
      <p>
        Choose what shall stay. Nothing is saved yet
        {others.length > 0 && (
          <>; what they alone changed ({others.map(({ label }) => label).join(', ')}) is kept</>
        )}
        .
      </p>
      <div className="merge">
        {conflicts.map(member => (
          <fieldset key={member.name}>
            <legend>{member.label}</legend>
            <div className="was">
              <span className="muted">Before</span>
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
                  <b>{side === 'mine' ? 'Yours' : 'Theirs'}</b>
                  <Shown member={member} value={(side === 'mine' ? mine : theirs)[member.name]} />
                </span>
              </label>
            ))}
          </fieldset>
        ))}
      </div>
      <div className="dialog-actions">
        <Button tone="quiet" onClick={onClose}>
          Back to the form
        </Button>
        <Button tone="main" disabled={!isWhole} onClick={() => onMerge(chosen)}>
          Take these
        </Button>
      </div>
    </Dialog>
  )
}
