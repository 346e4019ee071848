/** What ends a statement while it runs: the check that statements of slow reads have for each row. */
import type { Connection } from '#engines/sqlite/connection.ts'

/** Calls `look` again and again while such a statement runs on the connection; what it throws ends the statement. */
export const lookWhileReading = ({ database }: Connection, look: () => void): void => {
  let calls = 0
  // Called for each row of a scan; looking at the clock each time would cost more than the row.
  database.function('duet_interrupt_check', () => {
    if ((++calls & 0x3f) === 0) look()
    return 1
  })
}
