/** `duet/commands`: commands of a content's own, and kinds of rows that it imports. They load the store; what a service is made of does not. */
export { readArgs, UsageError } from '#cli/arguments.ts'
export { addRow, dangling, orTaken } from '#cli/transfer/rows-in.ts'
export { inserter } from '#serve/insert.ts'
export { ask } from '#serve/store.ts'
export { checkInput, type InputContext, type Values } from '#write/input.ts'
