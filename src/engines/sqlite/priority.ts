/** The priority of the threads that others do not wait for. */
import { getPriority, setPriority } from 'node:os'

/** The nice value of a thread that goes after those that answer. */
const low = 10

/** Lets this thread go after the one that answers. On Linux a priority is of the thread alone; elsewhere of the whole process. */
export const goAfterOthers = (): void => {
  if (process.platform !== 'linux') return
  try {
    // A process that is nicer already may not go back.
    if (getPriority() < low) setPriority(low)
  } catch {
    // Where it is not permitted the threads are equal.
  }
}
