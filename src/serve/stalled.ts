/** When a client has taken nothing of its answer for so long that its connection is ended. */

const looks = 6

/** What is looked at every `look` milliseconds until nothing was taken for `patience`, and at most one `look` longer. */
export const createStalled = (patience: number, now = () => performance.now()) => {
  const look = patience / looks
  const stalls = new WeakMap<object, { readonly at: number; readonly inRow: number }>()
  return {
    look,
    /**
     * Whether patience is over, asked at each look at a connection of which nothing was taken since the one before. Node does not
     * tell of the others: where one may lie between, the time begins anew.
     */
    isOver: (connection: object): boolean => {
      const at = now()
      const before = stalls.get(connection)
      const inRow = before && at - before.at < 1.5 * look ? before.inRow + 1 : 1
      stalls.set(connection, { at, inRow })
      return inRow === looks
    },
  }
}
