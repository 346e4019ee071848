/** What commands and voices know of the mail: that somebody can be asked to prove an address, and what a token proves. */

/** Whom an address belongs to, as a command found it. */
export type Addressee = { readonly id: number; readonly name: string; readonly email: string }

export type Proofs = {
  /** Whether messages go anywhere; without it nobody can be asked. */
  readonly canSend: boolean
  /** Asks this person soon; never throws and never waits. */
  readonly invite: (person: Addressee) => void
  /** What a token proves now. */
  readonly proven: (
    token: string,
  ) =>
    | { readonly kind: 'good'; readonly id: number; readonly email: string }
    | { readonly kind: 'expired' | 'bad' }
}
