/** Where each thread begins: its modules are found as quickly as those of the program. `argv` has the address of the one that it runs. */
import '#base/resolve-imports.ts'
import '#base/older-node.ts'
import { getPriority, setPriority } from 'node:os'

/** The nice value of a thread: where cores are few, the one that answers everybody goes first. */
const low = 10

// On Linux a priority is of the thread alone; elsewhere of the whole process.
if (process.platform === 'linux')
  try {
    // A process that is nicer already may not go back.
    if (getPriority() < low) setPriority(low)
  } catch {
    // If it is not permitted the threads are equal.
  }

const [, , module = ''] = process.argv
await import(module)
