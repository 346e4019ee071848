/** `duet/commands`: commands of a content's own, made-up rows, and kinds of rows that it imports; it loads the store. */
export { readArgs, UsageError } from '#cli/arguments.ts'
export { addRow, dangling, orTaken } from '#cli/transfer/rows-in.ts'
export { entityOf } from '#model/model.ts'
export { formatMinor } from '#model/money.ts'
export { fold } from '#model/values.ts'
export { inserter } from '#serve/insert.ts'
export { ask } from '#serve/store.ts'
export { checkInput, type InputContext, type Values } from '#write/input.ts'
