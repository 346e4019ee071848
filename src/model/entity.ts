/** Entities: fields, relations, rules and public names. */

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
  /** Whether they are in the order in which they were made; else newest first. */
  readonly oldestFirst: boolean
}

/** The filter behind a query parameter of a REST list. */
export type Filter =
  | { readonly kind: 'equals' | 'at least' | 'at most'; readonly field: string }
  /** Only the value `true` has an effect: selects rows above zero. */
  | { readonly kind: 'above zero'; readonly field: string }
  /** Selects rows that contain the text, whatever its case; `field` is a folded one. */
  | { readonly kind: 'contains'; readonly field: string }

/** How a REST list is paged: numbered pages, numbered pages or an offset, or cursors by id descending. */
type Paging = 'page' | 'page or offset' | 'cursor'

export type Listing = {
  readonly paging: Paging
  /** The size of a page where the caller does not give it. */
  readonly limit: number
  /** The fields a caller may sort by: with `sort` and `order`, or as a signed list (`-price,name`). */
  readonly sort?: {
    readonly style: 'field and order' | 'signed list'
    readonly fields: readonly string[]
  }
  readonly filters?: Readonly<Record<string, Filter>>
}

/** The links of an object: always the same (`by` is null), or by the value of one of its fields. */
export type Links =
  | { readonly by: null; readonly all: Named }
  | { readonly by: string; readonly cases: Readonly<Record<string, Named>> }

type Named = Readonly<Record<string, Link>>

/** A link: a path with `{field}`s in it, and a method where it is not GET. */
export type Link = string | { readonly href: string; readonly method: string }

/** Runs after the commit of a create: it gets these fields of the row, and never throws or waits. */
type CreateEffect = {
  readonly fields: readonly string[]
  readonly run: (row: Readonly<Record<string, unknown>>, services: Services) => void
}

export type Entity = {
  readonly table: string
  /** The name of its collection in both APIs. */
  readonly plural: string
  readonly description: string
  readonly fields: Readonly<Record<string, Field>>
  readonly relations: Readonly<Record<string, Relation>>
  readonly policy: Policy
  readonly links: Links | null
  readonly rest: {
    /** Whether there is a list at `/plural`; without it `listing` is for nested lists only. */
    readonly list: boolean
    readonly one: boolean
    readonly listing: Listing
    /** Whether `fields` may choose the members. */
    readonly selectable: boolean
    /** The writes at its own paths, and those at the paths below a parent. */
    readonly writes: readonly ('create' | 'replace' | 'update' | 'delete')[]
    readonly nested: readonly ('one' | 'create' | 'delete')[]
    /** Relations whose rows are embedded in the object, each after one of its members. */
    readonly embedded: Readonly<Record<string, { readonly after: string }>>
  }
  readonly graphql: {
    /** Whether the schema has the type, and with `roots` its root fields. */
    readonly type: boolean
    readonly roots: boolean
    /** Whether the list root is paged like the REST list; else it is whole unless `limit` is given. */
    readonly paged: boolean
    /** Fields that are equality filters of the list root; the row that a reference among them names must exist. */
    readonly filters: readonly string[]
    readonly mutations: readonly ('create' | 'update' | 'delete')[]
  }
  /** The cached counts, updated with each write so that a list's total costs no scan: of all rows, and by these fields; null: none. */
  readonly counted: readonly string[] | null
  /** Indexes in addition to those of references, unique fields and sorts. */
  readonly indexes: readonly (readonly string[])[]
  /** Whether rows are never changed or deleted. */
  readonly appendOnly: boolean
  /** Sets of fields whose values are unique together. */
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

/** A listing that names only existing fields. */
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
  /** Links by the value of a field, instead of `links`. */
  linksBy?: { by: Key; cases: Readonly<Record<string, Named>> }
  rest: NoInfer<RestOf<Key, keyof R & string>>
  graphql?: NoInfer<Partial<Omit<Entity['graphql'], 'filters'>> & { filters?: readonly Key[] }>
  counted?: readonly NoInfer<Key>[]
  indexes?: readonly (readonly NoInfer<Key | `-${Key}`>[])[]
  sets?: readonly (readonly NoInfer<Key>[])[]
  appendOnly?: boolean
  afterCreate?: NoInfer<CreateEffect & { readonly fields: readonly Key[] }>
}

/** An entity with its defaults: in both APIs, without counts, closed where no rule says otherwise. */
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
