/** The start page `/`: the service, its version and its links. */
import { html } from 'hono/html'
import { docsPath, errorsPath, graphqlPath, schemaPath, versionsPath } from '#base/paths.ts'
import { preferred } from '#http/accept.ts'
import { type App, header } from '#http/request.ts'
import type { Entity } from '#model/entity.ts'
import type { Model } from '#model/model.ts'
import { anonymous, judge } from '#model/policy.ts'
import type { Assets } from '#pages/assets.ts'
import { htmlPage, listed, originOf, type Page, page, send } from '#pages/page.ts'

/** Requests that show what a content has: an operation and a path below the REST API's, for anonymous and with a token. */
export type Examples = {
  readonly graphql: string
  readonly rest: string
  readonly withToken: { readonly graphql: string; readonly rest: string }
  /** What GraphiQL opens with; the operation for anonymous where there are none. */
  readonly tabs?: readonly Tab[]
  /** Rows of entities that the demo has none of, as in an import, for the examples of the OpenAPI documents. */
  readonly rows?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
  /** A row of an entity that the demo does not have, so that a caller may send the example of its input. */
  readonly inputs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** A tab of GraphiQL, with its variables and headers as JSON texts. */
type Tab = { readonly query: string; readonly variables?: string; readonly headers?: string }

export type StartOptions = {
  readonly model: Model
  readonly examples: Examples
  readonly development: boolean
  readonly introspection: boolean
  /** The path below which the newest version of the REST API is. */
  readonly rest: string
  readonly version: string
}

type Link = {
  readonly rel: string
  readonly href: string
  readonly text: string
  readonly note: string
  /** Whether a browser, which sends no token, would be refused there. */
  readonly isClosed?: boolean
}

const graphiqlLink: Link = {
  rel: 'graphql',
  href: graphqlPath,
  text: 'GraphiQL',
  note: 'write and run operations in the browser',
}

const schemaLink: Link = {
  rel: 'schema',
  href: schemaPath,
  text: 'The schema as text',
  note: 'for tools that make typed clients',
}

const openApi = ({ rest }: StartOptions): string => `${rest}/openapi.json`

const docsLinks = (options: StartOptions): readonly Link[] => [
  {
    rel: 'docs',
    href: docsPath,
    text: 'Reference',
    note: 'every request, tried out in the browser',
  },
  {
    rel: 'openapi',
    href: openApi(options),
    text: 'OpenAPI document',
    note: 'for tools that make typed clients',
  },
  {
    rel: 'versions',
    href: versionsPath,
    text: 'Versions',
    note: 'how to name one, and what differs',
  },
  { rel: 'errors', href: errorsPath, text: 'Errors', note: 'every code, in both APIs' },
]

const graphqlLinks = ({ introspection }: StartOptions): readonly Link[] => [
  graphiqlLink,
  ...(introspection ? [schemaLink] : []),
]

const probeLinks: readonly Link[] = [
  { rel: 'health', href: '/healthz', text: '/healthz', note: 'the process answers' },
  { rel: 'ready', href: '/readyz', text: '/readyz', note: 'it can serve requests' },
]

const needsToken = ({ policy }: Entity, model: Model): boolean => {
  const rule = policy.enter ?? policy.read
  return !rule || judge(rule, anonymous, model) !== 'yes'
}

/** The features of a list, in a few words. */
const noteOf = (entity: Entity, model: Model): string => {
  const { listing } = entity.rest
  if (needsToken(entity, model)) return 'asks for a token'
  if (listing.paging === 'cursor') return 'newest first, page by cursor'
  const filters = Object.values(listing.filters ?? {})
  return listed([
    ...(filters.some(({ kind }) => kind === 'contains') ? ['search'] : []),
    ...(filters.length > 0 ? ['filter'] : []),
    ...(listing.sort ? ['sort'] : []),
  ])
}

/** The lists of the REST API. */
const restLinks = ({ model, rest: prefix }: StartOptions): readonly Link[] =>
  Object.values(model.entities)
    .filter(({ rest }) => rest.list)
    .map(entity => {
      const href = `${prefix}/${entity.plural}`
      const isClosed = needsToken(entity, model)
      return { rel: entity.plural, href, text: href, note: noteOf(entity, model), isClosed }
    })

const pluralsOf = (model: Model, isShown: (entity: Entity) => boolean): string => {
  const shown = Object.values(model.entities).filter(isShown)
  const text = listed(shown.map(({ plural }) => plural))
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Whether REST has requests for it, at a path of its own or below another. */
const isInRest = (entity: Entity, { entities }: Model): boolean =>
  entity.rest.list ||
  entity.rest.one ||
  Object.values(entities)
    .flatMap(({ relations }) => Object.values(relations))
    .some(relation => relation.kind === 'many' && relation.rest && entities[relation.to] === entity)

/** Serves the start page at `/`, as JSON to those who prefer that. */
export const mountStart = (app: App, options: StartOptions, assets: Assets): void => {
  app.get('/', async c => {
    const form = preferred(header(c, 'accept') ?? '*/*', ['text/html', 'application/json'])
    const made =
      form === 'application/json'
        ? startDocument(options)
        : await startPage(options, originOf(c.req.url), assets)
    return send(made, c)
  })
}

/** The links of the page as JSON, in the form of every `_links` of the REST API. */
const startDocument = (options: StartOptions): Page => {
  const { version } = options
  const links = [
    ...graphqlLinks(options),
    ...docsLinks(options),
    ...restLinks(options),
    ...probeLinks,
  ]
  const entries = links.map(({ rel, href }) => [rel, { href }])
  const _links = { self: { href: '/' }, ...Object.fromEntries(entries) }
  return page(JSON.stringify({ name: 'duet', version, _links }), 'application/json')
}

/** The page for people; its `curl` lines call `origin`. */
const startPage = (options: StartOptions, origin: string, assets: Assets): Promise<Page> =>
  htmlPage(assets, {
    title: 'Duet',
    styles: ['pages.css'],
    policy: { 'style-src': "'self'", 'img-src': "'self'" },
    body: html`<header>
${ornament}
<h1>Duet</h1>
<p class="lead">One content service with two APIs: what is written through GraphQL is read through REST, and the other way round.</p>
<p class="facts"><span>version ${options.version}</span><span>${options.development ? 'development' : 'production'}</span></p>
</header>
<main>
<section class="api graphql">
<h2>GraphQL</h2>
<p>${pluralsOf(options.model, ({ graphql }) => graphql.type)} from one endpoint, in exactly the shape you ask for.</p>
${linkList(graphqlLinks(options))}
<h3>Try it</h3>
<pre><code>${graphqlCurl(origin, options.examples)}</code></pre>
<p class="small">${
      options.introspection
        ? 'Introspection is on: clients and GraphiQL can read the schema.'
        : 'Introspection is off: clients and GraphiQL cannot read the schema here.'
    }</p>
</section>
<section class="api rest">
<h2>REST</h2>
<p>${pluralsOf(options.model, entity => isInRest(entity, options.model))} as resources, with addresses and entity tags.</p>
${linkList([...docsLinks(options), ...restLinks(options)])}
<h3>Try it</h3>
<pre><code>${restCurl(origin, options)}</code></pre>
<p class="small">Lists take filters, a sort order and a page size in the query string.</p>
</section>
<section class="wide">
<h2>With a token</h2>
<p>${
      options.development
        ? html`Public reads need none. For the rest, the operator of this service makes one, in the folder and with the settings it was started with; send it as <code>Authorization: Bearer …</code>:`
        : html`Public reads need none. For the rest, ask the operator of this service for one and send it as <code>Authorization: Bearer …</code>.`
    }</p>
${options.development ? html`<pre><code>${tokenCurl(origin, options)}</code></pre>` : ''}
</section>
<section class="wide">
<h2>Typed clients</h2>
<p>Types of the REST API for TypeScript are made from its document${options.introspection ? ', those of GraphQL from its schema' : ''}:</p>
<pre><code>${typesLines(origin, options)}</code></pre>
</section>
</main>
<footer>
<h2>Health</h2>
${linkList(probeLinks)}
</footer>`,
  })

const linkList = (links: readonly Link[]) =>
  html`<ul class="links">${links.map(
    ({ href, text, note, isClosed }) =>
      html`\n<li>${isClosed ? html`<span>${text}</span>` : html`<a href="${href}">${text}</a>`} <span class="note">${note}</span></li>`,
  )}
</ul>`

const restCurl = (origin: string, { rest, examples }: StartOptions): string =>
  `curl '${origin}${rest}${examples.rest}'`

const graphqlCurl = (origin: string, { graphql }: Examples): string => `\
curl ${origin}${graphqlPath} \\
  -H 'Content-Type: application/json' \\
  -d '{"query": ${JSON.stringify(graphql)}}'`

const typesLines = (origin: string, options: StartOptions): string =>
  [
    `npx openapi-typescript ${origin}${openApi(options)} -o rest.d.ts`,
    ...(options.introspection ? [`curl ${origin}${schemaPath} -o schema.graphql`] : []),
  ].join('\n')

const tokenCurl = (
  origin: string,
  { rest, examples: { withToken }, model: { viewers } }: StartOptions,
): string => `\
TOKEN=$(bin/duet token --${viewers.entity} 1 --role ${viewers.roles.superuser} --ttl 1h)
curl ${origin}${rest}${withToken.rest} -H "Authorization: Bearer $TOKEN"`

// Two lines that part and meet again, for the two APIs; the style sheet colours them.
const ornament = html`<svg class="ornament" viewBox="0 -4 240 56" aria-hidden="true">
<path class="first" d="M4 24 C 34 -8, 64 -8, 94 24 S 154 56, 184 24 S 226 6, 236 24"/>
<path class="second" d="M4 24 C 34 56, 64 56, 94 24 S 154 -8, 184 24 S 226 42, 236 24"/>
</svg>`
