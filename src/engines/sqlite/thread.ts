/** Where each thread begins: its modules are found as quickly as those of the program. `argv` has the address of the one that it runs. */
import '#base/resolve-imports.ts'

const [, , module = ''] = process.argv
await import(module)
