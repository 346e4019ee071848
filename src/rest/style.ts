/** What a version of the REST API is as a whole, beside the members of its resources. */
import type { Version } from '#model/version.ts'

export type Style = {
  /** The envelope of lists: `data` beside `nextCursor` or numbered `pagination`, or one `pagination` for all lists. */
  readonly lists: 'by paging' | 'uniform'
  /** The body of errors: `{"error": …}`, or a problem of RFC 9457. */
  readonly errors: 'error' | 'problem'
  /** Whether unknown query parameters and unknown values of `sort` are refused; else they are ignored. */
  readonly isStrict: boolean
}

const styles: Readonly<Record<Version, Style>> = {
  1: { lists: 'by paging', errors: 'error', isStrict: false },
  2: { lists: 'uniform', errors: 'problem', isStrict: true },
}

export const styleOf = (version: Version): Style => styles[version]
