/** The files of a contract. */
import { type Change, changed } from './document.ts'

/** Texts by the names of their files. */
export type Files = Readonly<Record<string, string>>

/** The file of version 1. */
export const name = 'v1.openapi.json'

/** A change that breaks callers. */
export const page: Change = ['/components/parameters/Page/name', 'sheet']

/** The files of a contract with changes. */
export const filesWith = (...changes: readonly Change[]): Files => ({
  [name]: `${JSON.stringify(changed(changes), null, 2)}\n`,
})
