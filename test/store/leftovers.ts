/**
 * Tables, and columns as `table.column`, that the store still has and the model has no more: the release before reads them, and a
 * later migration drops them. CONTRIBUTING.md says how.
 */
export const leftovers: readonly string[] = ['avatars']
