/** Entities: fields, relations, rules and public names. */
import { mapped } from '#base/object.ts'
import { checkShape, keys, madeWith, must, type Shape, words } from '#base/shape.ts'
import { type ErrorKind, errorShape } from '#errors.ts'
import { type AdminOf, adminShape } from '#model/admin.ts'
import type { MembersOf } from '#model/condition.ts'
import { type Field, fieldShape, longest, secondShape } from '#model/field.ts'
import { wrong } from '#model/names.ts'
import {
  type DeclaredPolicy,
  type DeclaredRule,
  type Policy,
  policyShape,
  type Rule,
  ruleOf,
  type Viewer,
} from '#model/policy.ts'
import type { Services } from '#model/services.ts'
import { isComparable, isSoughtInLists } from '#model/values.ts'
import { type Lifetime, lifetimeOf, lifetimeShape } from '#model/version.ts'

/** `one`: this entity holds the key `by`. `many`: the target holds it. Its lifetime is that of its nested list. */
export type Relation = Lifetime & {
  readonly kind: 'one' | 'many'
  readonly to: string
  readonly by: string
  readonly description: string
  /**
   * The entity whose rows link this one's to the target's, for `many`: `by` is then its field for this one, empty if it has one
   * reference here.
   */
  readonly through?: string | undefined
  /** Whether the GraphQL API shows it as a field. */
  readonly graphql: boolean
  /** Whether the REST API has it as a nested list, `/things/{id}/parts`. */
  readonly rest: boolean
  /** Whether they are in the order in which they were made; else newest first. */
  readonly oldestFirst: boolean
  /** Whether inputs of this entity take them as a member, and write them in one transaction with its row. */
  readonly nestedWrites: boolean
}

/**
 * The filter behind a query parameter of a REST list. `above zero` has an effect for the value `true` only; `contains` selects rows
 * that contain the text, whatever its case: its field is a folded one.
 */
export type Filter = Lifetime & {
  readonly kind: 'equals' | 'at least' | 'at most' | 'above zero' | 'contains'
  readonly field: string
}

/** How a REST list is paged: numbered pages, numbered pages or an offset, or cursors by id descending. */
type Paging = 'page' | 'page or offset' | 'cursor'

type SortStyle = 'field and order' | 'signed list'

type Listing = {
  readonly paging: Paging
  /** The fields a caller may sort by: with a field and a direction, or as a signed list (`-price,name`). */
  readonly sort?: {
    readonly style: SortStyle
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
 * What is done after the commit of a write, with these fields of the row (of a deleted one as they were): at least once, by whichever
 * service finds it in the outbox. One that throws is tried again, 20 times at most. A field of a row that this one refers to is named
 * by its relation: `owner.email`. Values are as they are stored.
 */
export type After = {
  readonly fields: readonly string[]
  readonly run: (
    row: Readonly<Record<string, unknown>>,
    services: Services,
    signal: AbortSignal,
  ) => void | Promise<void>
}

/** What a hook is given: the id of the row, 0 of a new one; the checked input by field, times as a Date, with the initial values of a create; the caller and the time. */
type BeforeContext = {
  readonly id: number
  readonly input: Readonly<Record<string, unknown>>
  readonly viewer: Viewer
  readonly now: Date
}

/**
 * A hook before a write, whichever API asks for it; an import and the steps of actions run none. It is a pure function of what it is
 * given, called once the input is checked, and may give values for fields of the row, in the place of the caller's; an error; and
 * steps that are done first, in the same transaction: those of write/steps/, which the model may not import.
 */
type Before = (given: BeforeContext) =>
  | {
      readonly values?: Readonly<Record<string, unknown>>
      readonly error?: ErrorKind
      /** Instead of the error's title. */
      readonly message?: string
      readonly steps?: readonly object[]
    }
  | undefined

type RestWrite = 'create' | 'replace' | 'update' | 'delete'
type NestedRoute = 'one' | 'create' | 'delete'
export type Mutation = 'create' | 'update' | 'delete'

/** An entity with everything that its declaration left out. */
export type Entity = {
  readonly table: string
  /** Whether its table is a view, which a migration of the content makes; its rows are only read. */
  readonly view: boolean
  /** Unique indexes, checks, triggers and columns of its table that the model does not know, by their names. */
  readonly own: readonly string[]
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
    readonly writes: readonly RestWrite[]
    readonly nested: readonly NestedRoute[]
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
    readonly mutations: readonly Mutation[]
    /** Why not to use some of its root fields and filters, by their names. */
    readonly deprecated: Readonly<Record<string, string>>
  }
  /** How many rows a list has at a time, in both APIs, if its caller does not say. */
  readonly pageSize: number
  /** The orders that indexes keep, each by a field, or by `-` and a field where it descends. */
  readonly sorts: readonly string[]
  /** The cached counts, updated with each write so that a list's total costs no scan: of all rows, and by these fields; null: none. */
  readonly counted: readonly string[] | null
  /** The only members that callers may name, as `mayNameField` and `mayNameRelation` say; null: all that they may read but long texts. */
  readonly filterable: readonly string[] | null
  /** Indexes in addition to those of references, unique fields and sorts. */
  readonly indexes: readonly (readonly string[])[]
  /** The texts that callers search, each with what a word in it counts for the order by relevance. */
  readonly search: Readonly<Record<string, number>>
  /** Whether rows are never changed or deleted. */
  readonly appendOnly: boolean
  /** Whether both APIs make many of its rows in one request, all or none. */
  readonly bulk: boolean
  /** Sets of fields whose values are unique together. */
  readonly sets: readonly { readonly fields: readonly string[]; readonly error: SetError }[]
  /** What is done before its writes and after them. */
  readonly before: Readonly<Partial<Record<Mutation, Before>>> & {
    /** The errors of its hooks and of their steps, for the documents. */
    readonly errors?: readonly ErrorKind[]
  }
  readonly after: Readonly<Record<string, After | undefined>>
  /** What the admin shows of it. */
  readonly admin: AdminOf<string>
}

/** Whether callers may name a field in conditions, orders, groups and sums, if their API shows it. */
export const mayNameField = ({ fields, filterable }: Entity, key: string): boolean => {
  const field = fields[key]
  if (!field || field.foldedFrom !== undefined) return false
  // Of a file, and of a list that is not looked into, a condition says whether there is one.
  const isThere = field.nullable && (field.file || field.items)
  if (!isComparable(field.scalar) && !isSoughtInLists(field.items?.scalar) && !isThere) return false
  return filterable?.includes(key) ?? longest(field) === 0
}

/** Whether callers may name a relation there, if their API shows it: somebody may read its rows. */
export const mayNameRelation = (
  entities: Readonly<Record<string, Entity>>,
  { relations, filterable }: Entity,
  key: string,
): boolean => {
  const { to = '', through = to } = relations[key] ?? {}
  const areRead = [to, through].every(name => entities[name]?.policy.read !== undefined)
  return areRead && (filterable?.includes(key) ?? true)
}

/** The error for a second row with the values of a set. */
type SetError = NonNullable<Field['unique']>

type OneOptions = Pick<Lifetime, 'deprecated'> & { description?: string; graphql?: boolean }
type ManyOptions = OneOptions &
  Lifetime & { rest?: boolean; oldestFirst?: boolean; nestedWrites?: boolean }
type ThroughOptions = ManyOptions & { through: string; by?: string }

const oneShape = keys<OneOptions>({
  deprecated: lifetimeShape.keys.deprecated,
  description: 'text',
  graphql: 'flag',
})
const manyShape = keys<ManyOptions>({
  ...lifetimeShape.keys,
  ...oneShape.keys,
  rest: 'flag',
  oldestFirst: 'flag',
  nestedWrites: 'flag',
})

const throughShape = keys<ThroughOptions>({ ...manyShape.keys, through: must('text'), by: 'text' })

const relationShape = keys<ManyOptions & Pick<Relation, 'kind' | 'to' | 'by' | 'through'>>({
  through: 'text',
  ...manyShape.keys,
  kind: must(words<Relation['kind']>({ one: 1, many: 1 })),
  to: must('text'),
  by: must('text'),
})

const relation =
  <const Kind extends Relation['kind'], Options extends object>(kind: Kind, shape: Shape) =>
  <const To extends string, const By extends string>(to: To, by: By, options?: Options) => {
    const isMany = kind === 'many'
    if (typeof to !== 'string' || typeof by !== 'string')
      throw new Error(
        isMany
          ? "many() takes the name of an entity and of its field that leads here, such as many('comment', 'postId'), or { through: 'postTag' }"
          : "one() takes the name of an entity and of the field here that leads to it, such as one('author', 'authorId')",
      )
    const usual = {
      ...{ description: '', graphql: true, rest: isMany },
      ...{ oldestFirst: false, nestedWrites: false },
    }
    return madeWith({ kind, to, by, ...usual, ...options }, shape, options ?? {})
  }

/** The row of another entity whose id this one's field `by` holds. */
export const one = relation<'one', OneOptions>('one', oneShape)
const manyBy = relation<'many', ManyOptions>('many', manyShape)
const manyThrough = relation<'many', ThroughOptions>('many', throughShape)

type MadeMany<To extends string, By extends string> = ReturnType<typeof manyBy<To, By>>

/**
 * The rows of another entity whose field `by` holds this one's id; or those that rows of a third entity link with this one, as
 * `many('tag', { through: 'recipeTag' })`, in the order of the links.
 */
export function many<const To extends string, const By extends string>(
  to: To,
  by: By,
  options?: ManyOptions,
): MadeMany<To, By>
export function many<const To extends string>(
  to: To,
  options: ThroughOptions,
): MadeMany<To, ''> & { readonly through: string }
export function many(to: string, by: string | ThroughOptions, options?: ManyOptions) {
  return typeof by === 'object' && by !== null
    ? manyThrough(to, by.by ?? '', by)
    : manyBy(to, by, options)
}

type DeclaredSort<Term extends string> = Term | (Lifetime & { readonly by: Term })

type DeclaredWrite<Kind extends string> = Kind | (Lifetime & { readonly kind: Kind })

/** A listing that names only existing fields. */
type ListingOf<Key extends string> = Partial<Omit<Listing, 'sort' | 'filters'>> & {
  /** The size of a page if the caller does not give it. */
  readonly limit?: number
  readonly sort?:
    | { readonly style: 'field and order'; readonly fields: readonly DeclaredSort<Key>[] }
    | { readonly style: 'signed list'; readonly fields: readonly DeclaredSort<Key | `-${Key}`>[] }
  readonly filters?: Readonly<Record<string, Filter & { readonly field: Key }>>
}

/** The REST API of an entity as it is declared; its own lifetime is that of all its routes. */
type RestOf<Key extends string, Related extends string> = Lifetime & {
  readonly list?: boolean | Lifetime
  readonly one?: boolean | Lifetime
  readonly selectable?: boolean
  readonly writes?: readonly DeclaredWrite<RestWrite>[]
  readonly nested?: readonly DeclaredWrite<NestedRoute>[]
  readonly listing?: ListingOf<Key>
  readonly embedded?: Readonly<Partial<Record<Related, Lifetime & { readonly after: Key }>>>
}

/** Links as they are declared: one that every version has may be its path alone. */
type DeclaredLinks = Readonly<Record<string, string | Link>>

type LinksBy<Key> = { by: Key; cases: Readonly<Record<string, DeclaredLinks>> }

type DeclaredSet<Key> = { readonly fields: readonly Key[]; readonly error: SetError }

/** A declared rule, if its conditions name members that there are; else a sentence about the others, which the compiler shows. */
type RuleOn<Declared, Known> = Declared extends readonly unknown[]
  ? { readonly [At in keyof Declared]: RuleOn<Declared[At], Known> }
  : Declared extends { readonly before: infer Before; readonly after?: infer After }
    ? [Exclude<MembersOf<Before> | MembersOf<After>, Known>] extends [never]
      ? Declared
      : `${Exclude<MembersOf<Before> | MembersOf<After>, Known> & string} is no field or relation here`
    : Declared

/** An entity as it is declared; the names of its fields are checked by the compiler. */
type EntityDeclaration<F, R, P, Key extends string = (keyof F & string) | 'id'> = {
  table?: string
  view?: boolean
  own?: readonly string[]
  plural?: string
  description?: string
  fields: F
  relations?: R
  policy?: P & {
    readonly [Operation in keyof P]: Operation extends keyof DeclaredPolicy
      ? RuleOn<P[Operation], Key | keyof R>
      : 'no operation: read, enter, create, update, delete'
  }
  links?: DeclaredLinks
  /** Links by the value of a field, instead of `links`. */
  linksBy?: LinksBy<Key>
  rest?: NoInfer<RestOf<Key, keyof R & string>>
  graphql?: NoInfer<Partial<Omit<Entity['graphql'], 'filters'>> & { filters?: readonly Key[] }>
  counted?: readonly NoInfer<Key>[]
  filterable?: readonly NoInfer<Key | (keyof R & string)>[]
  indexes?: readonly (readonly NoInfer<Key | `-${Key}`>[])[]
  /** The texts that callers search, with their weights; in a list all have the same. */
  search?: readonly NoInfer<Key>[] | Readonly<Partial<Record<NoInfer<Key>, number>>>
  sets?: readonly (readonly NoInfer<Key>[] | DeclaredSet<NoInfer<Key>>)[]
  appendOnly?: boolean
  bulk?: boolean
  /** What the admin shows of it, where that is not what is derived. */
  admin?: AdminOf<NoInfer<Key>>
  before?: Entity['before']
  after?: NoInfer<
    Readonly<
      Record<
        string,
        After & { readonly fields: readonly (Key | `${keyof R & string}.${string}`)[] }
      >
    >
  >
}

/** A declaration, whatever it declares. */
export type AnyDeclaration = EntityDeclaration<
  Readonly<Record<string, Field>>,
  Readonly<Record<string, Relation>>,
  DeclaredPolicy,
  string
>

const filterShape = keys<Filter>({
  ...lifetimeShape.keys,
  kind: must(
    words<Filter['kind']>({ equals: 1, 'at least': 1, 'at most': 1, 'above zero': 1, contains: 1 }),
  ),
  field: must('text'),
})

/** A list of words, each alone or with a lifetime, under this key. */
const withLifetimes = <Key extends 'by' | 'kind'>(key: Key, word: Shape): Shape => ({
  each: { either: [word, { keys: { ...lifetimeShape.keys, [key]: must(word) } }] },
})

const restShape = keys<RestOf<string, string>>({
  ...lifetimeShape.keys,
  list: { either: ['flag', lifetimeShape] },
  one: { either: ['flag', lifetimeShape] },
  selectable: 'flag',
  writes: withLifetimes('kind', words<RestWrite>({ create: 1, replace: 1, update: 1, delete: 1 })),
  nested: withLifetimes('kind', words<NestedRoute>({ one: 1, create: 1, delete: 1 })),
  listing: keys<ListingOf<string>>({
    paging: words<Paging>({ page: 1, 'page or offset': 1, cursor: 1 }),
    limit: 'number',
    sort: keys<NonNullable<ListingOf<string>['sort']>>({
      style: must(words<SortStyle>({ 'field and order': 1, 'signed list': 1 })),
      fields: must(withLifetimes('by', 'text')),
    }),
    filters: { named: filterShape },
  }),
  embedded: {
    named: keys<Lifetime & { after: string }>({ ...lifetimeShape.keys, after: must('text') }),
  },
})

const linksShape: Shape = {
  named: {
    either: ['text', keys<Link>({ ...lifetimeShape.keys, href: must('text'), method: 'text' })],
  },
}

const graphqlShape = keys<Partial<Entity['graphql']>>({
  type: 'flag',
  roots: 'flag',
  paged: 'flag',
  filters: { each: 'text' },
  mutations: { each: words<Mutation>({ create: 1, update: 1, delete: 1 }) },
  deprecated: { named: 'text' },
})

const setShape = keys<DeclaredSet<string>>({
  fields: must({ each: 'text' }),
  error: must(secondShape),
})

const afterShape = keys<After>({ fields: must({ each: 'text' }), run: must('function') })

const eachMutation = (of: Shape) => ({ create: of, update: of, delete: of })

const entityShape = keys<EntityDeclaration<object, object, string>>({
  table: 'text',
  view: 'flag',
  own: { each: 'text' },
  plural: 'text',
  description: 'text',
  fields: must({ named: fieldShape }),
  relations: { named: relationShape },
  policy: policyShape,
  links: linksShape,
  linksBy: keys<LinksBy<string>>({ by: must('text'), cases: must({ named: linksShape }) }),
  rest: restShape,
  graphql: graphqlShape,
  counted: { each: 'text' },
  filterable: { each: 'text' },
  indexes: { each: { each: 'text' } },
  search: { either: [{ each: 'text' }, { named: 'number' }] },
  sets: { each: { either: [{ each: 'text' }, setShape] } },
  appendOnly: 'flag',
  bulk: 'flag',
  admin: adminShape,
  before: keys<Entity['before']>({ ...eachMutation('function'), errors: { each: errorShape } }),
  after: { named: afterShape },
})

const kindOf = <Kind extends string>(write: DeclaredWrite<Kind>): Kind =>
  typeof write === 'string' ? write : write.kind

const restOf = (rest: RestOf<string, string>): Entity['rest'] => {
  const { list = false, one = false, writes = [], nested = [] } = rest
  const { sort, limit: _, ...listing } = rest.listing ?? {}
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
    listing: { paging: 'page', ...listing, ...(sorted && { sort: sorted }) },
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

/** An entity with its defaults: without counts, closed unless a rule says otherwise. */
export const entity = <
  const F extends Readonly<Record<string, Field>>,
  // biome-ignore lint/complexity/noBannedTypes: an entity without relations has none, not any.
  const R extends Readonly<Record<string, Relation>> = {},
  const P extends DeclaredPolicy = DeclaredPolicy,
>(
  draft: EntityDeclaration<F, R, P>,
) => {
  // What is not known stops the start: a misspelt option about rights must not open anything.
  // Its name is not known here: its first fields say which one it is.
  const some = Object.keys(draft?.fields ?? {}).slice(0, 3)
  const name =
    draft?.plural ?? draft?.table ?? (some[0] ? `an entity (${some.join(', ')}, …)` : 'an entity')
  checkShape(entityShape, draft, `the model is wrong: ${name}`)
  for (const [operation, rule] of Object.entries(draft.policy ?? {}))
    if (rule === undefined)
      wrong(`${name}.policy.${operation} is undefined: give it a rule, or leave it out`)
  const links = draft.linksBy ?? (draft.links && { by: null, cases: { all: draft.links } })
  const linked = (named: DeclaredLinks) =>
    mapped(named, link => (typeof link === 'string' ? { href: link } : link))
  const rest = restOf(draft.rest ?? {})
  const { style, fields: sorts = [] } = rest.listing.sort ?? {}
  const made = {
    ...draft,
    // What the draft leaves out is derived where all entities and their names are known: model/derived.ts.
    table: draft.table ?? '',
    plural: draft.plural ?? '',
    description: draft.description ?? '',
    fields: draft.fields as F & { readonly id: Field },
    policy: mapped((draft.policy ?? {}) as Readonly<Record<string, DeclaredRule>>, ruleOf) as {
      readonly [Operation in keyof P]: Rule
    },
    relations: draft.relations ?? ({} as R),
    links: links ? { by: links.by, cases: mapped(links.cases, linked) } : null,
    rest,
    pageSize: draft.rest?.listing?.limit ?? 20,
    // A field that a caller may sort by in both directions has an index for each.
    sorts:
      style === 'signed list'
        ? sorts
        : sorts.flatMap(field => (field === 'id' ? [] : [field, `-${field}`])),
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
    filterable: draft.filterable ?? null,
    indexes: draft.indexes ?? [],
    search: (Array.isArray(draft.search)
      ? Object.fromEntries(draft.search.map(key => [key, 1]))
      : (draft.search ?? {})) as Entity['search'],
    sets: (draft.sets ?? []).map(set =>
      'fields' in set ? set : { fields: set, error: 'CONFLICT' as const },
    ),
    appendOnly: draft.appendOnly ?? false,
    bulk: draft.bulk ?? false,
    view: draft.view ?? false,
    own: draft.own ?? [],
    admin: (draft.admin ?? {}) as Entity['admin'],
    before: draft.before ?? {},
    after: (draft.after ?? {}) as Entity['after'],
  }
  return madeWith(made, entityShape, draft)
}

/** The fields of which, each alone or all of a set together, only one row may have the same values. */
export const uniquesOf = ({
  fields,
  sets,
}: Pick<Entity, 'fields' | 'sets'>): readonly (readonly string[])[] => [
  ...Object.keys(fields).flatMap(key => (fields[key]?.unique === undefined ? [] : [[key]])),
  ...sets.map(set => set.fields),
]
