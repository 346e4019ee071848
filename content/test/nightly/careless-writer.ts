// A writer that treats a failed commit as rolled back: the control of the fault tests.
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
