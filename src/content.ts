/** The content of a service as one value: all that the machine needs of it. */
import '#base/older-node.ts'
import { mapped } from '#base/object.ts'
import { checkShape, keys, madeWith, must, optionsOf, type Shape } from '#base/shape.ts'
import { nearest } from '#base/text.ts'
import {
  type ErrorKind,
  errorShape,
  type FieldFault,
  machineErrors,
  mergeErrors,
  peopleErrors,
} from '#errors.ts'
import { fileRoutes } from '#files/routes.ts'
import type { Entity } from '#model/entity.ts'
import {
  checkSwitches,
  checkVersions,
  type Entities,
  type Model,
  type Settings,
} from '#model/model.ts'
import { currencyOf } from '#model/money.ts'
import { operationDocsShape } from '#model/operation-docs.ts'
import { type DeclaredPeople, type People, peopleOf, peopleShape } from '#model/people.ts'
import {
  alternativesOf,
  type DeclaredRule,
  declaredShape,
  type Rule,
  ruleOf,
} from '#model/policy.ts'
import { isEmail } from '#model/values.ts'
import {
  declaredVersionsShape,
  defineVersions,
  lifetimeShape,
  type Versions,
} from '#model/version.ts'
import { checkViewers, serviceRoles, type Viewers, viewersShape } from '#model/viewers.ts'
import type { ContentPage } from '#pages/page.ts'
import type { Examples } from '#pages/start.ts'
import { checkActions, checkDocument, checkRoutes } from '#rest/faults.ts'
import type { ExtraRoute, RuledRoute } from '#rest/rest.ts'
import {
  ConfigError,
  type SettingTable,
  settings,
  settingsOfVersions,
  type ValuesOf,
} from '#settings.ts'
import type { Dialect } from '#sql/dialect.ts'
import type { Session } from '#sql/engine.ts'
import type { SqlValue } from '#sql/sql.ts'
import type { InputContext } from '#write/input.ts'
import { type Action, actionShape, type RuledAction } from '#write/steps/action.ts'
import { checkSteps } from '#write/steps/faults.ts'

/** An open store, as commands work on it: a session, and how statements for it are written. */
export type OpenStore = { readonly session: Session; readonly dialect: Dialect }

/** An open store with the model of its content. */
export type ContentStore = OpenStore & { readonly model: Model }

/** A row of a file or of a demo, by member. */
export type InputRow = Readonly<Record<string, unknown>>

/** Rows by entity, with members as in an import. */
export type RowsByEntity = Readonly<Record<string, readonly InputRow[]>>

/** The number of rows of each kind, by the option's name. */
type Sizes = Readonly<Record<string, number>>

/** The row of that number, counted from 0, by field. */
type RowAt = (index: number) => Readonly<Record<string, SqlValue>>

/** Puts `count` rows of an entity in, with ids from 1. */
export type PutMany = (entity: string, count: number, rowAt: RowAt) => Promise<void>

/** The generated rows of a content. */
export type Seed = {
  /** The kinds that are made, with their default numbers. */
  readonly sizes: Sizes
  /** A sentence about the rows, for the help. */
  readonly about: string
  /** A sentence that says why these sizes cannot be made; undefined if they can. */
  readonly check: (sizes: Sizes) => string | undefined
  readonly fill: (put: PutMany, sizes: Sizes) => Promise<void>
}

/** Puts a row in; gives its faults, and puts nothing in if there are any. */
export type PutRow = (row: InputRow) => Promise<readonly FieldFault[]>

/** A kind of rows that `import` reads and `export` writes. */
export type TransferKind = {
  /** The entity's name in the model. */
  readonly entity: string
  /** Fields that no API shows and that a round trip needs. */
  readonly also: readonly string[]
  /** Members of other programs' files, each with the member that it stands for here, or null if it is left out. */
  readonly foreign: Readonly<Record<string, string | null>>
  /** Puts its rows in, for a kind whose rows are more than rows of one table. */
  readonly rows?: (store: ContentStore, use: InputContext) => PutRow
  /** The members of its files, for the help. */
  readonly help?: string
}

/** A command of the command line: a module that exports both. */
export type CliCommand = {
  /** The text of `duet NAME --help`. */
  readonly help: string | ((content: Content) => string | Promise<string>)
  /** `file` is that of the content, undefined if the program brings its own. */
  readonly run: (args: readonly string[], content: Content, file?: string) => Promise<void>
}

/** A command as `duet --help` lists it, loaded when it is called. */
export type ListedCommand = {
  readonly about: string
  readonly load: () => Promise<CliCommand>
}

/** REST routes that the model does not derive, and pages. */
export type Served<R = DeclaredRule> = {
  readonly routes: readonly ExtraRoute<R>[]
  readonly pages: readonly ContentPage[]
}

type Parts<Own extends SettingTable> = {
  /** Its name on the pages and in the OpenAPI documents; Duet unless given. */
  readonly title?: string
  /** What it is, in a sentence or two, on the start page and in the documents. */
  readonly description?: string
  /** Whom callers ask about it, in the OpenAPI documents. */
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string }
  /** The terms of its APIs, in the OpenAPI documents: their name, and the identifier of SPDX or an address where they are. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string }
  /** A colour for each API on the pages, such as `#0a736d`. */
  readonly colours?: { readonly graphql?: string; readonly rest?: string }
  /** The entities, checked by `defineModel`. */
  readonly entities: Entities
  /** Who calls; without it nobody has a row, and the roles of tokens are `service` and `admin`. */
  readonly viewers?: Viewers
  /** Has those rows sign in here, by a code in a mail, a provider or a password; the fields that this needs are found unless they are named. */
  readonly people?: boolean | DeclaredPeople
  /** The versions of its REST API, made by `defineVersions`; one, if it says nothing. */
  readonly versions?: Versions
  /** Writes that are no plain create, update or delete. */
  readonly actions?: readonly Action[]
  /** What a service alone needs; other commands start faster without it. */
  readonly served?: () => Promise<Served>
  readonly errors?: Readonly<Record<string, ErrorKind>>
  /** Whether choices, days and times are Strings in the GraphQL API, where they are enums, `Date` and `DateTime` otherwise. */
  readonly graphqlStrings?: boolean
  /** Settings of its own, named DUET_… like the machine's. */
  readonly settings?: Own
  /** The switches that rules name with `whileOpen`, by the values of the settings. */
  readonly switches?: (values: ValuesOf<Own>) => Readonly<Record<string, boolean>>
  /** How many rows of an entity one caller may create in a minute, the superuser apart; any number if it is not named. */
  readonly creationRates?: (values: ValuesOf<Own>) => Readonly<Record<string, number>>
  /** The ISO 4217 code of the currency that fields of money are in; USD unless given. */
  readonly currency?: (values: ValuesOf<Own>) => string
  /** The folder of its migrations, with a folder for each engine in it. */
  readonly migrations: URL
  /** A few rows for an empty development store. */
  readonly demo?: () => Promise<RowsByEntity>
  /** Made-up rows of any number, for `duet seed`. */
  readonly seed?: () => Promise<Seed>
  /** Where `import` and `export` differ from the model, by the entity's name. */
  readonly transfer?: Readonly<Record<string, Partial<TransferKind>>>
  /** Commands of its own, by name, beside those of the machine. */
  readonly commands?: Readonly<Record<string, ListedCommand>>
  /** Example requests for the start page and the greeting of `serve`; the first list that anybody may read, if it says nothing. */
  readonly examples?: Examples
}

/** What a content may go without. */
type Optional = 'description' | 'contact' | 'license' | 'colours' | 'demo' | 'seed' | 'people'

export type Content = Required<
  Omit<
    Parts<SettingTable>,
    'actions' | 'served' | 'switches' | 'creationRates' | 'currency' | Optional
  >
> &
  Pick<Parts<SettingTable>, Exclude<Optional, 'people'>> & {
    readonly actions: readonly RuledAction[]
    readonly served: () => Promise<Served<Rule>>
    /** Sign-in, with the fields that it needs; absent in a content without it. */
    readonly people?: People
    /** How many rows of an entity one caller may create in a minute, the superuser apart. */
    readonly creationRates: (
      values: Readonly<Record<string, unknown>>,
    ) => Readonly<Record<string, number>>
    /** The model's settings from the values of the content's own; throws ConfigError for an unknown currency. */
    readonly decide: (values: Readonly<Record<string, unknown>>) => Settings
  }

export const servedShape = keys<Served>({
  routes: must({
    each: keys<ExtraRoute>({
      ...lifetimeShape.keys,
      method: must('text'),
      path: must('text'),
      described: must(
        keys<ExtraRoute['described']>({ ...operationDocsShape.keys, rule: declaredShape }),
      ),
      isSigned: 'function',
      serve: must('function'),
    }),
  }),
  pages: must({
    each: keys<ContentPage>({
      path: must('text'),
      assets: must({
        named: keys<ContentPage['assets'][string]>({ file: must('anything'), type: must('text') }),
      }),
      page: must('function'),
    }),
  }),
})

export const seedShape = keys<Seed>({
  sizes: must({ named: 'number' }),
  about: must('text'),
  check: must('function'),
  fill: must('function'),
})

const rowsShape: Shape = { each: { named: 'anything' } }

/** An object whose keys are names of entities. */
const byEntity = (entities: Entities, shapeOf: (entity: Entity) => Shape): Shape => ({
  keys: mapped(entities, shapeOf),
})

const partsShape = (entities: Entities): Shape =>
  keys<Parts<SettingTable>>({
    title: 'text',
    description: 'text',
    contact: keys<NonNullable<Content['contact']>>({ name: 'text', url: 'text', email: 'text' }),
    license: keys<NonNullable<Content['license']>>({
      name: must('text'),
      identifier: 'text',
      url: 'text',
    }),
    colours: keys<NonNullable<Content['colours']>>({ graphql: 'text', rest: 'text' }),
    entities: must({ named: 'anything' }),
    viewers: viewersShape,
    people: peopleShape,
    versions: declaredVersionsShape,
    actions: { each: actionShape },
    served: 'function',
    errors: { named: errorShape },
    graphqlStrings: 'flag',
    settings: {
      named: keys<SettingTable[string]>({
        rule: must('function'),
        usual: must('text'),
        about: must('text'),
      }),
    },
    switches: 'function',
    creationRates: 'function',
    currency: 'function',
    migrations: must('anything'),
    demo: 'function',
    seed: 'function',
    transfer: byEntity(entities, ({ fields }) =>
      keys<Partial<TransferKind>>({
        entity: { words: Object.keys(entities) },
        also: { each: { words: Object.keys(fields) } },
        foreign: { named: { either: ['null', 'text'] } },
        rows: 'function',
        help: 'text',
      }),
    ),
    commands: { named: keys<ListedCommand>({ about: must('text'), load: must('function') }) },
    examples: keys<Examples>({
      graphql: must('text'),
      rest: must('text'),
      withToken: must(keys<Examples['withToken']>({ graphql: must('text'), rest: must('text') })),
      tabs: {
        each: keys<NonNullable<Examples['tabs']>[number]>({
          query: must('text'),
          variables: 'text',
          headers: 'text',
        }),
      },
      rows: byEntity(entities, () => rowsShape),
      inputs: byEntity(entities, () => ({ named: 'anything' })),
    }),
  })

/** Requests for the first list in both APIs that anybody may read, or else the first one. */
const usualExamples = (entities: Entities): Examples => {
  const listed = Object.values(entities).filter(({ rest, graphql }) => rest.list && graphql.roots)
  const isOpen = ({ policy: { read, enter = read } }: Entity) =>
    enter !== undefined && alternativesOf(enter).some(({ kind }) => kind === 'anyone')
  const { plural = '', fields = {} } = listed.find(isOpen) ?? listed[0] ?? {}
  const shown = Object.entries(fields).filter(([, { graphql }]) => graphql === 'shown')
  const members = shown.slice(0, 2).map(([key]) => key)
  const graphql = `{ ${plural}(limit: 3) { ${members.join(' ')} } }`
  const examples = { graphql, rest: `/${plural}` }
  return { ...examples, withToken: examples }
}

const currencyNamed = (code: string) => {
  const currency = currencyOf(code)
  if (!currency)
    throw new ConfigError(`${code} is not a currency of ISO 4217: name one, such as USD`)
  return currency
}

/** That of a content which says none. */
const usualTitle = 'Duet'

const checkLook = ({
  title = usualTitle,
  colours = {},
  contact,
  license,
}: Pick<Parts<SettingTable>, 'title' | 'colours' | 'contact' | 'license'>): void => {
  const { name, url, email } = contact ?? {}
  if (contact && [name, url, email].every(part => !part?.trim()))
    throw new Error('The contact of the content is empty: give it a name, a url or an email')
  if (license && !license.name.trim())
    throw new Error('The license of the content has no name: say one, such as MIT')
  if (license?.identifier !== undefined && license.url !== undefined)
    throw new Error('The license of the content has an identifier and a url: OpenAPI takes one')
  for (const [key, address] of Object.entries({ contact: url, license: license?.url }))
    if (address !== undefined && !/^https?:/i.test(URL.parse(address)?.protocol ?? ''))
      throw new Error(
        `${key}.url of the content must be an absolute http or https URL, not ${address}`,
      )
  if (email !== undefined && !isEmail(email))
    throw new Error(`contact.email of the content must be an email address, not ${email}`)
  if (title.trim() === '')
    throw new Error('The title of the content is empty: name it, or leave it out')
  for (const [api, colour] of Object.entries(colours))
    if (!/^#[\da-f]{6}$/i.test(colour))
      throw new Error(
        `colours.${api} of the content must be a colour such as #0a736d, not ${colour}`,
      )
}

const checkSettings = (own: SettingTable): void => {
  for (const name of Object.keys(own)) {
    if (!/^DUET_[A-Z][A-Z0-9_]*$/.test(name))
      throw new Error(`The setting ${name} is not named like DUET_LOG: give it such a name`)
    if (Object.hasOwn(settings, name))
      throw new Error(`The setting ${name} is the machine's own: give it another name`)
  }
}

const ruled = ({ described, ...rest }: ExtraRoute): RuledRoute => ({
  ...rest,
  described: { ...described, rule: described.rule && ruleOf(described.rule) },
})

const rulesOfActions = (actions: readonly RuledAction[]) =>
  actions.map(({ name, rule }) => [`the rule of the action ${name}`, rule] as const)

/**
 * The content of these parts. Throws a plain error, one sentence, if an error code or a setting is defined twice, or an action
 * or a route is at fault.
 */
export const defineContent = <const Own extends SettingTable = Record<never, never>>(
  parts: Parts<Own>,
): Content => {
  const shape = partsShape(parts?.entities ?? {})
  checkShape(shape, parts, 'the content')
  const { switches, creationRates, currency, demo, seed, people: declared, ...rest } = parts
  const { settings = {}, versions = defineVersions(), viewers = { roles: serviceRoles } } = parts
  const { served = async () => ({ routes: [], pages: [] }), actions: said = [] } = parts
  const actions = said.map(({ rule, ...rest }) => ({ ...rest, rule: rule && ruleOf(rule) }))
  const errors = { ...(declared && peopleErrors), ...parts.errors }
  if (!optionsOf(versions))
    throw new Error('The versions of the content must be made by defineVersions({ 1: {} })')
  const codes = [...mergeErrors(machineErrors, errors).keys()]
  const listed = (place: string, named: readonly string[]) => {
    checkShape({ each: 'text' }, named, place)
    for (const [at, code] of named.entries()) {
      if (codes.includes(code)) continue
      if (nearest(code, codes) !== undefined) checkShape({ words: codes }, code, `${place}.${at}`)
      throw new Error(
        `${place} has ${code}, which the content does not list: add it to errors of defineContent`,
      )
    }
  }
  const checkCodes = (routes: readonly (Action | ExtraRoute)[]) => {
    for (const { method, path, described } of routes)
      listed(`described.errors of ${method} ${path}`, described.errors ?? [])
  }
  checkSettings(settings)
  checkLook(parts)
  checkViewers(parts.entities, viewers, rulesOfActions(actions))
  const people = peopleOf(parts.entities, viewers, declared)
  checkVersions(parts.entities, versions)
  checkActions(parts.entities, actions)
  checkRoutes(versions, actions)
  checkCodes(actions)
  for (const [name, { fields, sets, before }] of Object.entries(parts.entities)) {
    const named = [
      ...Object.values(fields).map(({ unique }) => unique),
      ...sets.map(set => set.error),
    ]
    const own = named.flatMap(error => (typeof error === 'object' ? [error.code] : []))
    listed(`the errors of unique values of ${name}`, own)
    listed(`before.errors of ${name}`, before.errors?.map(({ code }) => code) ?? [])
  }
  const made: Content = {
    title: usualTitle,
    transfer: {},
    examples: usualExamples(parts.entities),
    commands: {},
    graphqlStrings: false,
    ...rest,
    viewers,
    ...(people && { people }),
    actions,
    // The routes with the actions: two of one version may have one path, or one name in a document.
    served: async () => {
      const own = checkShape(servedShape, await served(), 'what the content serves')
      const extras = [...own.routes, ...fileRoutes(parts.entities)]
      const routes = [...actions, ...extras]
      checkRoutes(versions, routes)
      checkDocument(parts.entities, versions, routes)
      checkCodes(extras)
      return { ...own, routes: extras.map(ruled) }
    },
    versions,
    errors,
    settings: { ...settings, ...settingsOfVersions(versions.all) },
    ...(demo && {
      demo: async () =>
        checkShape(
          byEntity(parts.entities, () => rowsShape),
          await demo(),
          'the demo of the content',
        ),
    }),
    ...(seed && {
      seed: async () => checkShape(seedShape, await seed(), 'the seed of the content'),
    }),
    creationRates: values =>
      checkShape(
        byEntity(parts.entities, () => 'number'),
        creationRates?.(values as ValuesOf<Own>) ?? {},
        'creationRates of the content',
      ),
    decide: values => ({
      switches: switches?.(values as ValuesOf<Own>) ?? {},
      currency: currencyNamed(currency?.(values as ValuesOf<Own>) ?? 'USD'),
      values,
    }),
  }
  return madeWith(made, shape, parts)
}

/** The model of a content with an operator's settings; throws a plain error if a rule names an unknown switch, or the steps of an action or a hook are at fault. */
export const modelOf = (
  { title, description, entities, viewers, versions, actions, errors, ...content }: Content,
  settings: Settings,
): Model => {
  checkSwitches(entities, settings.switches, rulesOfActions(actions))
  const about = title === usualTitle ? description : [title, description].filter(Boolean).join(': ')
  const { graphqlStrings, people } = content
  const model = { about, entities, viewers, people, versions, settings, graphqlStrings }
  checkSteps(model, actions, mergeErrors(machineErrors, errors))
  return model
}
