/** What a kind of thing is: its fields, relations, rules and public names. */

import type { Services } from '#base/services.ts'
import type { Field } from '#model/field.ts'
import type { Policy } from '#model/policy.ts'

/** `one`: this entity holds the key `by`. `many`: the target holds it. */
export type Relation = {
  readonly kind: 'one' | 'many'
  readonly to: string
  readonly by: string
  readonly description: string
  /** Whether the GraphQL API shows it as a field. */
  readonly graphql: boolean
  /** Whether the REST API has it as a nested list, `/things/{id}/parts`. */
  readonly rest: boolean
  /** In the order in which they were made; else newest first. */
  readonly oldestFirst: boolean
}

/** What a query parameter of a REST list, or an argument of a GraphQL list, keeps. */
export type Filter =
  | { readonly kind: 'equals' | 'at least' | 'at most'; readonly field: string }
  /** Only the value `true` has an effect: keeps what is above zero. */
  | { readonly kind: 'above zero'; readonly field: string }
  /** Keeps what contains the text, whatever its case; `field` is a folded one. */
  | { readonly kind: 'contains'; readonly field: string }

/** How a REST list is paged: numbered pages, numbered pages or an offset, or cursors by id descending. */
export type Paging = 'page' | 'page or offset' | 'cursor'

export type Listing = {
  readonly paging: Paging
  /** How many where the caller does not say. */
  readonly limit: number
  /** The fields a caller may sort by: with `sort` and `order`, or as a signed list (`-price,name`). */
  readonly sort?: {
    readonly style: 'field and order' | 'signed list'
    readonly fields: readonly string[]
  }
  readonly filters?: Readonly<Record<string, Filter>>
}

/** The places to go from an object, always the same (`by` is null) or by what one of its fields says. */
export type Links =
  | { readonly by: null; readonly all: Named }
  | { readonly by: string; readonly cases: Readonly<Record<string, Named>> }

type Named = Readonly<Record<string, Link>>

/** A place to go from an object: a path with `{field}`s in it, and a method where it is not GET. */
export type Link = string | { readonly href: string; readonly method: string }

/** What follows once a row was made and kept: it gets these fields of the row, and never throws or waits. */
export type CreateEffect = {
  readonly fields: readonly string[]
  readonly run: (row: Readonly<Record<string, unknown>>, services: Services) => void
}

export type Entity = {
  readonly table: string
  /** The plural that names its collection in both APIs. */
  readonly plural: string
  readonly description: string
  readonly fields: Readonly<Record<string, Field>>
  readonly relations: Readonly<Record<string, Relation>>
  readonly policy: Policy
  readonly links: Links | null
  readonly rest: {
    /** The list at `/plural`; null: there is none of its own, only nested ones with this paging. */
    readonly list: boolean
    readonly one: boolean
    readonly listing: Listing
    /** Whether `fields` may choose the members. */
    readonly selectable: boolean
    /** The writes at its own paths, and those at the paths below a parent. */
    readonly writes: readonly ('create' | 'replace' | 'update' | 'delete')[]
    readonly nested: readonly ('one' | 'create' | 'delete')[]
    /** Relations whose rows stand in the object itself, each after one of its members. */
    readonly embedded: Readonly<Record<string, { readonly after: string }>>
  }
  readonly graphql: {
    /** Whether the schema has the type, and whether queries may begin at it. */
    readonly type: boolean
    readonly roots: boolean
    /** The list root is paged like the REST list, or whole until `limit` is given. */
    readonly paged: boolean
    /** Equality filters that the list root takes as arguments, each naming what must exist. */
    readonly filters: readonly string[]
    readonly mutations: readonly ('create' | 'update' | 'delete')[]
  }
  /** Numbers of rows that are kept with each write, so that a list's total costs no scan: all, and by these fields. */
  readonly counted: readonly string[] | null
  /** Further indexes than those of references, unique fields and sorts. */
  readonly indexes: readonly (readonly string[])[]
  /** Rows are only ever added: a record of what happened. */
  readonly appendOnly: boolean
  /** Fields that no two rows share all of. */
  readonly sets: readonly (readonly string[])[]
  readonly afterCreate: CreateEffect | null
}

type OneOptions = { description?: string; graphql?: boolean }
type ManyOptions = OneOptions & { rest?: boolean; oldestFirst?: boolean }

const relation =
  <const Kind extends Relation['kind'], Options>(kind: Kind) =>
  <const To extends string, const By extends string>(to: To, by: By, options?: Options) => ({
    kind,
    to,
    by,
    description: '',
    graphql: true,
    rest: kind === 'many',
    oldestFirst: false,
    ...options,
  })

/** The row of another entity whose id this one's field `by` holds. */
export const one = relation<'one', OneOptions>('one')
/** The rows of another entity whose field `by` holds this one's id. */
export const many = relation<'many', ManyOptions>('many')

/** A listing that names only fields that are there. */
type ListingOf<Key extends string> = Omit<Listing, 'sort' | 'filters'> & {
  readonly sort?:
    | { readonly style: 'field and order'; readonly fields: readonly Key[] }
    | { readonly style: 'signed list'; readonly fields: readonly (Key | `-${Key}`)[] }
  readonly filters?: Readonly<Record<string, Filter & { readonly field: Key }>>
}

type RestOf<Key extends string, Related extends string> = Pick<Entity['rest'], 'list' | 'one'> &
  Partial<Pick<Entity['rest'], 'selectable' | 'writes' | 'nested'>> & {
    readonly listing: ListingOf<Key>
    readonly embedded?: Readonly<Partial<Record<Related, { readonly after: Key }>>>
  }

type Draft<F, R, Key extends string = keyof F & string> = {
  table: string
  plural: string
  description: string
  fields: F
  relations?: R
  policy: Policy
  links?: Named
  /** Links by what a field says, instead of `links`. */
  linksBy?: { by: Key; cases: Readonly<Record<string, Named>> }
  rest: NoInfer<RestOf<Key, keyof R & string>>
  graphql?: NoInfer<Partial<Omit<Entity['graphql'], 'filters'>> & { filters?: readonly Key[] }>
  counted?: readonly NoInfer<Key>[]
  indexes?: readonly (readonly NoInfer<Key | `-${Key}`>[])[]
  sets?: readonly (readonly NoInfer<Key>[])[]
  appendOnly?: boolean
  afterCreate?: NoInfer<CreateEffect & { readonly fields: readonly Key[] }>
}

/** An entity with its defaults filled in: in both APIs, nothing counted, closed where no rule says otherwise. */
export const entity = <
  const F extends Readonly<Record<string, Field>>,
  // biome-ignore lint/complexity/noBannedTypes: an entity without relations has none, not any.
  const R extends Readonly<Record<string, Relation>> = {},
>(
  draft: Draft<F, R>,
) => ({
  ...draft,
  relations: draft.relations ?? ({} as R),
  links: draft.linksBy ?? (draft.links ? { by: null, all: draft.links } : null),
  rest: {
    selectable: false,
    writes: [],
    nested: [],
    embedded: {},
    ...draft.rest,
  } as Entity['rest'],
  graphql: { type: true, roots: true, paged: false, filters: [], mutations: [], ...draft.graphql },
  counted: draft.counted ?? null,
  indexes: draft.indexes ?? [],
  sets: draft.sets ?? [],
  appendOnly: draft.appendOnly ?? false,
  afterCreate: draft.afterCreate ?? null,
})
