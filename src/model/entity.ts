/** Entities: fields, relations, rules and public names. */
import { mapped } from '#base/object.ts'
import type { ErrorKind } from '#errors.ts'
import type { Field } from '#model/field.ts'
import type { Policy } from '#model/policy.ts'
import { type Lifetime, lifetimeOf } from '#model/version.ts'

/** `one`: this entity holds the key `by`. `many`: the target holds it. Its lifetime is that of its nested list. */
export type Relation = Lifetime & {
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
export type Filter = Lifetime &
  (
    | { readonly kind: 'equals' | 'at least' | 'at most'; readonly field: string }
    /** Only the value `true` has an effect: selects rows above zero. */
    | { readonly kind: 'above zero'; readonly field: string }
    /** Selects rows that contain the text, whatever its case; `field` is a folded one. */
    | { readonly kind: 'contains'; readonly field: string }
  )

/** How a REST list is paged: numbered pages, numbered pages or an offset, or cursors by id descending. */
type Paging = 'page' | 'page or offset' | 'cursor'

/** A list of the REST API: its pages, sorts and filters. */
export type Listing = {
  readonly paging: Paging
  /** The size of a page if the caller does not give it. */
  readonly limit: number
  /** The fields a caller may sort by: with a field and a direction, or as a signed list (`-price,name`). */
  readonly sort?: {
    readonly style: 'field and order' | 'signed list'
    readonly fields: readonly string[]
    /** The lifetimes of the fields that not every version offers. */
    readonly lifetimes?: Readonly<Record<string, Lifetime>>
  }
  readonly filters?: Readonly<Record<string, Filter>>
}

/** The links of an object by the value of one of its fields; `by` is null if they are always the same, the only case. */
export type Links = {
  readonly by: string | null
  readonly cases: Readonly<Record<string, Readonly<Record<string, Link>>>>
}

/** A link: a path with `{field}`s in it, and a method if it is not GET. */
export type Link = Lifetime & { readonly href: string; readonly method?: string }

/** The fields in a link's path. */
export const pathFields = ({ href }: Link): readonly string[] =>
  [...href.matchAll(/\{(\w*)\}/g)].map(([, field = '']) => field)

/**
 * Runs after the commit of a create: it gets these fields of the row, and never throws or waits. The model only carries
 * it; the services are those of write/command.ts, which its caller gives.
 */
type CreateEffect = {
  readonly fields: readonly string[]
  readonly run: (row: Readonly<Record<string, unknown>>, services: never) => void
}

/** An entity with everything that its declaration left out. */
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
    /** The lifetimes of its routes, by their kinds; those of nested ones begin with `nested`, `all` is for every one of them. */
    readonly lifetimes: Readonly<Record<string, Lifetime>>
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
    readonly embedded: Readonly<Record<string, Lifetime & { readonly after: string }>>
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
    /** Why not to use some of its root fields and filters, by their names. */
    readonly deprecated: Readonly<Record<string, string>>
  }
  /** The cached counts, updated with each write so that a list's total costs no scan: of all rows, and by these fields; null: none. */
  readonly counted: readonly string[] | null
  /** Indexes in addition to those of references, unique fields and sorts. */
  readonly indexes: readonly (readonly string[])[]
  /** Whether rows are never changed or deleted. */
  readonly appendOnly: boolean
  /** Sets of fields whose values are unique together. */
  readonly sets: readonly { readonly fields: readonly string[]; readonly error: SetError }[]
  readonly afterCreate: CreateEffect | null
}

/** The error for a second row with the values of a set. */
type SetError = ErrorKind | 'CONFLICT'

type OneOptions = Pick<Lifetime, 'deprecated'> & { description?: string; graphql?: boolean }
type ManyOptions = OneOptions & Lifetime & { rest?: boolean; oldestFirst?: boolean }

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

/** A field to sort by, in all versions or in some. */
type DeclaredSort<Term extends string> = Term | (Lifetime & { readonly by: Term })

/** A write that every version has, or that some have. */
type DeclaredWrite<Kind extends string> = Kind | (Lifetime & { readonly kind: Kind })

/** A listing that names only existing fields. */
type ListingOf<Key extends string> = Omit<Listing, 'sort' | 'filters'> & {
  readonly sort?:
    | { readonly style: 'field and order'; readonly fields: readonly DeclaredSort<Key>[] }
    | { readonly style: 'signed list'; readonly fields: readonly DeclaredSort<Key | `-${Key}`>[] }
  readonly filters?: Readonly<Record<string, Filter & { readonly field: Key }>>
}

/** The REST API of an entity as it is declared; its own lifetime is that of all its routes. */
type RestOf<Key extends string, Related extends string> = Lifetime & {
  readonly list: boolean | Lifetime
  readonly one: boolean | Lifetime
  readonly selectable?: boolean
  readonly writes?: readonly DeclaredWrite<Entity['rest']['writes'][number]>[]
  readonly nested?: readonly DeclaredWrite<Entity['rest']['nested'][number]>[]
  readonly listing: ListingOf<Key>
  readonly embedded?: Readonly<Partial<Record<Related, Lifetime & { readonly after: Key }>>>
}

/** Links as they are declared: one that every version has may be its path alone. */
type DeclaredLinks = Readonly<Record<string, string | Link>>

/** An entity as it is declared; the names of its fields are checked by the compiler. */
type EntityDeclaration<F, R, Key extends string = keyof F & string> = {
  table: string
  plural: string
  description: string
  fields: F
  relations?: R
  policy: Policy
  links?: DeclaredLinks
  /** Links by the value of a field, instead of `links`. */
  linksBy?: { by: Key; cases: Readonly<Record<string, DeclaredLinks>> }
  rest: NoInfer<RestOf<Key, keyof R & string>>
  graphql?: NoInfer<Partial<Omit<Entity['graphql'], 'filters'>> & { filters?: readonly Key[] }>
  counted?: readonly NoInfer<Key>[]
  indexes?: readonly (readonly NoInfer<Key | `-${Key}`>[])[]
  sets?: readonly (
    | readonly NoInfer<Key>[]
    | { readonly fields: readonly NoInfer<Key>[]; readonly error: SetError }
  )[]
  appendOnly?: boolean
  afterCreate?: NoInfer<CreateEffect & { readonly fields: readonly Key[] }>
}

const kindOf = <Kind extends string>(write: DeclaredWrite<Kind>): Kind =>
  typeof write === 'string' ? write : write.kind

const restOf = (rest: RestOf<string, string>): Entity['rest'] => {
  const { list, one, writes = [], nested = [] } = rest
  const { sort, ...listing } = rest.listing
  const terms = ((sort?.fields ?? []) as readonly DeclaredSort<string>[]).map(term =>
    typeof term === 'string' ? { by: term } : term,
  )
  const sorted = sort && {
    style: sort.style,
    fields: terms.map(({ by }) => by),
    lifetimes: Object.fromEntries(terms.map(term => [term.by, lifetimeOf(term)] as const)),
  }
  // A route is there as long as the whole entity, unless it says otherwise.
  const routes: readonly (readonly [string, boolean | string | Lifetime])[] = [
    ['all', {}],
    ['list', list],
    ['one', one],
    ...writes.map(write => [kindOf(write), write] as const),
    ...nested.map(write => [`nested ${kindOf(write)}`, write] as const),
  ]
  return {
    list: list !== false,
    one: one !== false,
    listing: { ...listing, ...(sorted && { sort: sorted }) },
    selectable: rest.selectable ?? false,
    writes: writes.map(kindOf),
    nested: nested.map(kindOf),
    embedded: (rest.embedded ?? {}) as Entity['rest']['embedded'],
    lifetimes: Object.fromEntries(
      routes.map(([name, own]) => [
        name,
        { ...lifetimeOf(rest), ...(typeof own === 'object' && lifetimeOf(own)) },
      ]),
    ),
  }
}

const linksOf = (
  links: { by: string | null; cases: Readonly<Record<string, DeclaredLinks>> } | undefined,
): Links | null => {
  const linked = (named: DeclaredLinks) =>
    mapped(named, link => (typeof link === 'string' ? { href: link } : link))
  return links ? { by: links.by, cases: mapped(links.cases, linked) } : null
}

/** An entity with its defaults: in both APIs, without counts, closed unless a rule says otherwise. */
export const entity = <
  const F extends Readonly<Record<string, Field>>,
  // biome-ignore lint/complexity/noBannedTypes: an entity without relations has none, not any.
  const R extends Readonly<Record<string, Relation>> = {},
>(
  draft: EntityDeclaration<F, R>,
) => ({
  ...draft,
  relations: draft.relations ?? ({} as R),
  links: linksOf(draft.linksBy ?? (draft.links && { by: null, cases: { all: draft.links } })),
  rest: restOf(draft.rest),
  graphql: {
    type: true,
    roots: true,
    paged: false,
    filters: [],
    mutations: [],
    deprecated: {},
    ...draft.graphql,
  },
  counted: draft.counted ?? null,
  indexes: draft.indexes ?? [],
  sets: (draft.sets ?? []).map(set =>
    'fields' in set ? set : { fields: set, error: 'CONFLICT' as const },
  ),
  appendOnly: draft.appendOnly ?? false,
  afterCreate: draft.afterCreate ?? null,
})
