/** Loans go in and out with their stamps, and with the members' own notes on old cards left out. */

import type { ContentStore, PutRow, TransferKind } from 'duet'
import {
  checkInput,
  dangling,
  entityOf,
  type InputContext,
  inserter,
  orTaken,
  type Values,
} from 'duet/commands'

const loanRows = (store: ContentStore, use: InputContext): PutRow => {
  const { model } = store
  const loan = entityOf(model, 'loan')
  const stamp = entityOf(model, 'stamp')
  const putLoan = inserter(store, loan)
  const putStamp = inserter(store, stamp)
  const stampOf = (row: unknown) =>
    checkInput(stamp, Object(row), { ...use, what: 'stamp', given: { loanId: 0 } })
  return async ({ stamps = [], ...row }) => {
    if (!Array.isArray(stamps)) return [{ field: 'stamps', message: 'must be a list' }]
    const { values, faults } = checkInput(loan, row, use)
    const checked = stamps.map(stampOf)
    const wrong = [...faults, ...checked.flatMap(({ faults }) => faults)]
    if (wrong.length > 0) return wrong
    const missing = await dangling(store, loan, values)
    if (missing.length > 0) return missing
    return orTaken(store, loan, async () => {
      const loanId = await putLoan(values)
      const below = (row: Values) => new Map(row).set('loanId', loanId)
      for (const { values } of checked) await putStamp(below(values))
    })
  }
}

export const loanKind: Partial<TransferKind> = {
  foreign: { borrower: 'memberId', card: null },
  rows: loanRows,
  help: 'Loans: {id, bookId, memberId, state, note, lentAt, dueAt, stamps}; card is not kept.',
}
