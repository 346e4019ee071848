// A writer that takes a commit that failed for one that was undone: the control of the faults' tests.
import { connect } from '#engines/sqlite/connection.ts'

const connection = connect(process.argv[2] ?? '')
for (let id = 1; id <= 10; id++)
  try {
    connection.run(`begin immediate; insert into t (id) values (${id})`)
    connection.run('commit')
  } catch {
    process.stdout.write(`undone ${id}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
process.kill(process.pid, 'SIGKILL')
