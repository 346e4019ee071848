/** What clients did to a store and saw in it: the history that is checked for contradictions. */

/**
 * A part of an operation. A *register* has one value at a time, each written once; a *list* grows by items, each added once;
 * a *count* goes up by one.
 */
export type Deed =
  | {
      readonly kind: 'wrote'
      readonly register: string
      readonly over: string
      readonly value: string
    }
  /** A conditional write that was refused since the value is no longer this one. */
  | { readonly kind: 'was refused'; readonly register: string; readonly over: string }
  | { readonly kind: 'saw'; readonly register: string; readonly value: string }
  | { readonly kind: 'added'; readonly list: string; readonly item: string }
  | { readonly kind: 'listed'; readonly list: string; readonly items: readonly string[] }
  | { readonly kind: 'raised'; readonly count: string }
  | { readonly kind: 'counted'; readonly count: string; readonly as: number }

/** An acknowledged operation, done at one moment between its two numbers, which count what was sent and answered. */
export type Operation = {
  readonly begun: number
  readonly ended: number
  readonly deeds: readonly Deed[]
}

/** Where a register begins, before its first value. */
export const nothing = ''
