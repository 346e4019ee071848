/** The versions of the REST API of this service. */
import { defineVersions } from 'duet'

export const versions = defineVersions({
  // What callers of the first days have: it was the only one.
  1: { lists: 'by paging', errors: 'error', isStrict: false, isMarked: false },
  2: {},
})
