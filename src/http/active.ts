/** The requests that are being answered, by method. */
export type Active = {
  readonly began: (method: string) => void
  readonly ended: (method: string) => void
  readonly counts: ReadonlyMap<string, number>
}

/** None at first. */
export const createActive = (): Active => {
  const counts = new Map<string, number>()
  const add = (method: string, number: number) =>
    void counts.set(method, (counts.get(method) ?? 0) + number)
  return { began: method => add(method, 1), ended: method => add(method, -1), counts }
}
