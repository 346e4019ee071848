/** The start page `/`: the service, its version and its links. */
import { html } from 'hono/html'
import {
  adminPath,
  docsPath,
  errorsPath,
  graphqlPath,
  guidePath,
  program,
  schemaPath,
  versionsPath,
} from '#base/paths.ts'
import { preferred } from '#http/accept.ts'
import { type App, header } from '#http/request.ts'
import type { Entity } from '#model/entity.ts'
import type { Model } from '#model/model.ts'
import { anonymous, judge } from '#model/policy.ts'
import { developerOf, type WithViewers } from '#model/viewers.ts'
import type { Assets } from '#pages/assets.ts'
import {
  htmlPage,
  listed,
  originOf,
  page,
  send,
  signedIn,
  textPage,
  type WebPage,
} from '#pages/page.ts'

/** Requests that show what a content has: an operation and a path below the REST API's, for anonymous and with a token. */
export type Examples = {
  readonly graphql: string
  readonly rest: string
  readonly withToken: { readonly graphql: string; readonly rest: string }
  /** The tabs that GraphiQL opens with, their variables and headers as JSON texts; without any, the operation for anonymous. */
  readonly tabs?: readonly {
    readonly query: string
    readonly variables?: string
    readonly headers?: string
  }[]
  /** Rows of entities that the demo has none of, as in an import, for the examples of the OpenAPI documents. */
  readonly rows?: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
  /** A row of an entity that the demo does not have, so that a caller may send the example of its input. */
  readonly inputs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export type StartOptions = {
  readonly model: Model
  readonly examples: Examples
  readonly development: boolean
  readonly introspection: boolean
  readonly hasAdmin: boolean
  /** Whether operations are taken that are not stored. */
  readonly takesOperations: boolean
  /** Whether this program makes the tokens that it takes. */
  readonly makesTokens: boolean
  /** The path below which the newest version of the REST API is. */
  readonly rest: string
  readonly version: string
}

let fault: string | undefined

/** What `duet dev` says of the last change where that cannot be served: the page shows it until there is a better one. */
export const tellOnStart = (text: string | undefined): void => {
  fault = text
}

/** Serves the start page at `/`, as JSON to those who prefer that. */
export const mountStart = (app: App, options: StartOptions, assets: Assets): void => {
  app.get('/', async c => {
    const form = preferred(header(c, 'accept') ?? '*/*', ['text/html', 'application/json'])
    if (form !== 'application/json')
      return send(await startPage(options, originOf(c.req.url), assets), c)
    // They have the form of every `_links` of the REST API.
    const { graphql, rest, editors, probes } = linksOf(options, assets)
    const entries = [...graphql, ...rest, ...editors, ...probes].map(({ rel, href }) => [
      rel,
      { href },
    ])
    const _links = { self: { href: '/' }, ...Object.fromEntries(entries) }
    const document = { name: 'duet', version: options.version, _links }
    return send(page(JSON.stringify(document), 'application/json'), c)
  })
}

type StartLink = {
  readonly rel: string
  readonly href: string
  readonly text: string
  readonly note: string
  /** Whether a browser, which sends no token, would be refused there. */
  readonly isClosed?: boolean
}

const link = (rel: string, href: string, text: string, note: string): StartLink => {
  return { rel, href, text, note }
}

/** The links of the page by their places on it, in the order in which its JSON has them. */
const linksOf = ({ model, rest, introspection, hasAdmin }: StartOptions, { site }: Assets) => ({
  graphql: [
    site.hasGraphiql
      ? link('graphql', graphqlPath, 'GraphiQL', 'write and run operations in the browser')
      : { ...link('graphql', graphqlPath, graphqlPath, 'takes operations'), isClosed: true },
    ...(introspection
      ? [link('schema', schemaPath, 'The schema as text', 'for tools that make typed clients')]
      : []),
  ],
  rest: [
    link('docs', docsPath, 'Reference', 'every request, tried out in the browser'),
    link(
      'openapi',
      `${rest}/openapi.json`,
      'OpenAPI document',
      'for tools that make typed clients',
    ),
    link(
      'guide',
      guidePath,
      'Guide',
      'pages, filters, keys, ETags, and what else holds for all calls',
    ),
    link('versions', versionsPath, 'Versions', 'how to name one, and what differs'),
    link('errors', errorsPath, 'Errors', 'every code, in both APIs'),
    ...Object.values(model.entities)
      .filter(entity => entity.rest.list)
      .map(entity => listLink(entity, model, rest)),
  ],
  editors: hasAdmin ? [link('admin', adminPath, 'Admin', 'look at rows, and change them')] : [],
  probes: [
    link('health', '/healthz', '/healthz', 'the process answers'),
    link('ready', '/readyz', '/readyz', 'it can serve requests'),
  ],
})

const listLink = (entity: Entity, model: Model, prefix: string): StartLink => {
  const { plural, policy, rest } = entity
  const href = `${prefix}/${plural}`
  const rule = policy.enter ?? policy.read
  const isClosed = !rule || judge(rule, anonymous, model) === 'no'
  const { paging, filters = {}, sort } = rest.listing
  const kinds = Object.values(filters)
  let note = listed([
    ...(kinds.some(({ kind }) => kind === 'contains') ? ['search'] : []),
    ...(kinds.length > 0 ? ['filter'] : []),
    ...(sort ? ['sort'] : []),
  ])
  if (paging === 'cursor') note = 'newest first, page by cursor'
  if (isClosed) note = 'asks for a token'
  return { ...link(plural, href, href, note), isClosed }
}

const pluralsOf = (model: Model, isShown: (entity: Entity) => boolean): string => {
  const shown = Object.values(model.entities).filter(isShown)
  const text = listed(shown.map(({ plural }) => plural))
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The command that makes a token of a superuser. */
export const tokenCommand = (content: WithViewers): string => {
  const { sub, role, claims } = developerOf(content)
  const whose = typeof sub === 'string' ? 'subject' : content.viewers.entity
  const given = JSON.stringify(claims).replaceAll("'", "'\\''")
  const also = given === '{}' ? '' : ` --claims '${given}'`
  return `${program} token --${whose} ${sub} --role ${role}${also}`
}

const usualLead =
  'One content service with two APIs: what is written through GraphQL is read through REST, and the other way round.'

const startPage = (options: StartOptions, origin: string, assets: Assets): Promise<WebPage> => {
  const { model, examples, development, introspection, rest, version } = options
  const { takesOperations, makesTokens } = options
  const shows = development && makesTokens
  const { entities } = model
  const { title, description = usualLead } = assets.site
  const links = linksOf(options, assets)
  // An entity is in REST if it has requests there, at a path of its own or below another.
  const below = Object.values(entities)
    .flatMap(({ relations }) => Object.values(relations))
    .filter(relation => relation.kind === 'many' && relation.rest)
    .map(({ to }) => entities[to])
  const inRest = (entity: Entity) => entity.rest.list || entity.rest.one || below.includes(entity)
  const restCurl = `curl '${origin}${rest}${examples.rest}'`
  const graphqlCurl = `\
curl ${origin}${graphqlPath} \\
  -H 'Content-Type: application/json' \\
  -d '{"query": ${JSON.stringify(examples.graphql)}}'`
  const withToken = `\
TOKEN=$(${tokenCommand(model)} --ttl 1h)
curl ${origin}${rest}${examples.withToken.rest} -H "Authorization: Bearer $TOKEN"`
  const types = [
    `npx openapi-typescript ${origin}${rest}/openapi.json -o rest.d.ts`,
    ...(introspection ? [`curl ${origin}${schemaPath} -o schema.graphql`] : []),
  ]
  return htmlPage(assets, {
    title,
    ...textPage,
    body: html`<header>
${ornament}
<h1>${title}</h1>
<p class="lead">${description}</p>${signedIn(assets.site)}
<p class="facts"><span>${title === 'Duet' ? 'version' : 'Duet'} ${version}</span><span>${development ? 'development' : 'production'}</span></p>
${linkList(links.editors)}
</header>
<main>
${fault === undefined ? '' : html`<section class="wide" role="alert">\n<h2>The last change is not served</h2>\n<pre><code>${fault}</code></pre>\n</section>\n`}<section class="api graphql">
<h2>GraphQL</h2>
<p>${pluralsOf(model, ({ graphql }) => graphql.type)} from one endpoint, in exactly the shape you ask for.</p>
${linkList(links.graphql)}
${takesOperations ? html`<h3>Try it</h3>\n<pre><code>${graphqlCurl}</code></pre>` : html`<p>Only the documents that are stored here are taken.</p>`}
<p class="small">${
      introspection
        ? 'Introspection is on: clients and GraphiQL can read the schema.'
        : 'Introspection is off: clients and GraphiQL cannot read the schema here.'
    }</p>
</section>
<section class="api rest">
<h2>REST</h2>
<p>${pluralsOf(model, inRest)} as resources, with addresses and entity tags.</p>
${linkList(links.rest)}
<h3>Try it</h3>
<pre><code>${restCurl}</code></pre>
<p class="small">Lists take filters, a sort order and a page size in the query string.</p>
</section>
<section class="wide">
<h2>With a token</h2>
<p>${
      shows
        ? html`Public reads need none. For the rest, the operator of this service makes one, in the folder and with the settings it was started with; send it as <code>Authorization: Bearer …</code>:`
        : html`Public reads need none. For the rest, ask ${makesTokens ? 'the operator' : 'the identity provider'} of this service for one and send it as <code>Authorization: Bearer …</code>.`
    }</p>
${shows ? html`<pre><code>${withToken}</code></pre>` : ''}
</section>
<section class="wide">
<h2>Typed clients</h2>
<p>Types of the REST API for TypeScript are made from its document${introspection ? ', those of GraphQL from its schema' : ''}:</p>
<pre><code>${types.join('\n')}</code></pre>
</section>
</main>
<footer>
<h2>Health</h2>
${linkList(links.probes)}
</footer>`,
  })
}

const linkList = (links: readonly StartLink[]) =>
  html`<ul class="links">${links.map(
    ({ href, text, note, isClosed }) =>
      html`\n<li>${isClosed ? html`<span>${text}</span>` : html`<a href="${href}">${text}</a>`}${note && html` <span class="note">${note}</span>`}</li>`,
  )}
</ul>`

// Two lines that part and meet again, for the two APIs; the style sheet colours them.
const ornament = html`<svg class="ornament" viewBox="0 -4 240 56" aria-hidden="true">
<path class="first" d="M4 24 C 34 -8, 64 -8, 94 24 S 154 56, 184 24 S 226 6, 236 24"/>
<path class="second" d="M4 24 C 34 56, 64 56, 94 24 S 154 -8, 184 24 S 226 42, 236 24"/>
</svg>`
