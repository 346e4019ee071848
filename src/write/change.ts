/** Everything that a caller can do to rows, in the terms of neither API: both translate a request into a Change, and the door (`door.ts`) does it. */
import type { JsonObject } from '#base/object.ts'
import type { Resource } from '#model/resource.ts'
import type { Target } from '#write/guard.ts'
import type { Idempotency } from '#write/job.ts'
import type { ManyWrite } from '#write/many.ts'
import type { OneLink } from '#write/parts.ts'
import type { Given, RuledAction } from '#write/steps/action.ts'

/** Reads what a request says of a change, once its caller may do such a thing; throws or rejects where it cannot be read. */
type Reads<Sent> = { readonly read: () => Sent | Promise<Sent> }

/** The key under which the response is stored, if the request has one. */
type Keyed = { readonly idempotency?: Idempotency | undefined }

/** An input for one row, by names of members. */
type Sent = Keyed & { readonly input: JsonObject }

/** A row that is written from an input. */
type FromInput = Reads<Sent> & {
  readonly entity: string
  /** The entity in the version of the request, which may call fields otherwise. */
  readonly resource?: Resource
  /** Whether rows below it may be in the input too. */
  readonly takesParts: boolean
}

/** A new row; `given` are its references that the path names. */
export type Create = FromInput & {
  readonly does: 'create'
  readonly given?: Readonly<Record<string, number>> | undefined
}

/** New values for a row: all of them, or some. `merges`: objects are merged into the JSON values that are there. */
export type Update = FromInput & {
  readonly does: 'replace' | 'update'
  readonly target: Target
  readonly merges?: boolean
}

export type Delete = Reads<Keyed> & {
  readonly does: 'delete'
  readonly entity: string
  readonly target: Target
}

export type ManyKind = 'create' | ManyWrite['does']

/** What a write of many rows says: the inputs of new ones; or the rows by a condition, with the input of a change of them. */
type SentMany = {
  readonly inputs?: unknown
  readonly rows?: ManyWrite['rows']
  readonly revisions?: ManyWrite['revisions']
  readonly input?: JsonObject | undefined
  readonly isDry?: boolean
}

/** A write of many rows, all or none: one of these kinds, which its input may be the first to tell. */
export type Many = Reads<
  Keyed & {
    readonly kind: ManyKind
    /** Where the request has its inputs. */
    readonly path: string
    /** Reads the rest, once the caller may do this kind. */
    readonly rest: () => SentMany
  }
> & {
  readonly does: 'many'
  readonly entity: string
  readonly kinds: readonly ManyKind[]
  readonly resource?: Resource
}

/** A link made or ended; `entity` has the rows that are such links. */
export type LinkChange = Reads<Keyed> & OneLink & { readonly entity: string }

/** An action, on the row of an id or on none; `target` has the revisions that this row must have. */
export type Act = Reads<
  Sent & Pick<Given, 'hasBody'> & Partial<Pick<Given, 'bytes' | 'ifMatch' | 'ifNoneMatch'>>
> & {
  readonly does: 'action'
  readonly action: RuledAction
  readonly id: number
  readonly target?: Target | undefined
}

export type Change = Create | Update | Delete | Many | LinkChange | Act

/** As much of a change as decides who may do it. */
export type ChangeKind =
  | Pick<Exclude<Change, Many | Act>, 'does' | 'entity'>
  | Pick<Many, 'does' | 'entity' | 'kinds'>
  | Pick<Act, 'does' | 'action'>
