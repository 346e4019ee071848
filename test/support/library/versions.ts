/** The versions of the library: the first is of the style of a content that began with one. */
import { defineVersions } from 'duet'

export const versions = defineVersions({
  1: { lists: 'by paging', errors: 'error', isStrict: false, isMarked: false },
  2: {},
})
