/** Rows of other programs' files: known members get the names they have here, or are left out. */
import type { InputRow, Kind } from '#cli/row-sources.ts'
import type { FieldFault } from '#errors.ts'

type Renamed = { readonly row: InputRow; readonly faults: readonly FieldFault[] }

/** Renames and leaves out members by the kind's table, and collects their names for a notice. */
export const renaming = ({ foreign }: Kind) => {
  const foreignNames = new Set<string>()
  const rename = (row: InputRow): Renamed => {
    const faults: FieldFault[] = []
    const entries: [string, unknown][] = []
    for (const [member, value] of Object.entries(row)) {
      if (!Object.hasOwn(foreign, member)) {
        entries.push([member, value])
        continue
      }
      foreignNames.add(member)
      const own = foreign[member] ?? null
      if (own === null) continue
      if (Object.hasOwn(row, own))
        faults.push({ field: member, message: `stands for ${own}, which is given too` })
      else entries.push([own, value])
    }
    return { row: Object.fromEntries(entries), faults }
  }
  /** One line on the foreign members; undefined where there were none. */
  const notice = (): string | undefined => {
    const names = [...foreignNames]
    const renamed = names.flatMap(name =>
      foreign[name] ? [`${name} is kept as ${foreign[name]}`] : [],
    )
    const left = names.filter(name => foreign[name] === null)
    const parts = left.length > 0 ? [...renamed, `not kept: ${left.join(', ')}`] : renamed
    return parts.length > 0 ? parts.join('; ') : undefined
  }
  return { rename, notice }
}
