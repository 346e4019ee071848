/** The start page `/`: what runs here, and where to go from it. */

import type { Env, Hono } from 'hono'
import { html } from 'hono/html'
import { preferred } from '#http/accept.ts'
import { type Assets, shippedAssets } from './assets.ts'
import { htmlPage, type Page, page, send } from './page.ts'

export type StartOptions = {
  readonly development: boolean
  readonly introspection: boolean
  readonly version: string
}

type Place = 'graphql' | 'rest' | 'service'

type Link = {
  readonly place: Place
  readonly rel: string
  readonly href: string
  readonly text: string
  readonly note: string
}

// The REST reference and the OpenAPI documents get their rows here when they are served.
const links: readonly Link[] = [
  {
    place: 'graphql',
    rel: 'graphql',
    href: '/graphql',
    text: 'GraphiQL',
    note: 'write and run operations in the browser',
  },
  {
    place: 'rest',
    rel: 'posts',
    href: '/api/posts',
    text: '/api/posts',
    note: 'newest first, page by cursor',
  },
  {
    place: 'rest',
    rel: 'products',
    href: '/api/products',
    text: '/api/products',
    note: 'search, filter and sort',
  },
  {
    place: 'rest',
    rel: 'users',
    href: '/api/users',
    text: '/api/users',
    note: 'asks for a token',
  },
  {
    place: 'service',
    rel: 'health',
    href: '/healthz',
    text: '/healthz',
    note: 'the process answers',
  },
  {
    place: 'service',
    rel: 'ready',
    href: '/readyz',
    text: '/readyz',
    note: 'it can serve requests',
  },
]

/** Serves the start page at `/`, as JSON to those who prefer that. */
export const mountStart = <E extends Env>(
  app: Hono<E>,
  options: StartOptions,
  assets: Assets = shippedAssets,
): void => {
  app.get('/', async c => {
    const form = preferred(c.req.header('accept') ?? '*/*', ['text/html', 'application/json'])
    const made =
      form === 'application/json'
        ? startDocument(options)
        : await startPage(options, originOf(c.req.url), assets)
    return send(made, c.req.raw)
  })
}

/** The links of the page as JSON, in the form of every `_links` of the REST voice. */
export const startDocument = ({ version }: StartOptions): Page => {
  const entries = links.map(({ rel, href }) => [rel, { href }])
  const _links = { self: { href: '/' }, ...Object.fromEntries(entries) }
  return page(JSON.stringify({ name: 'duet', version, _links }), 'application/json')
}

/** The page for people; its `curl` lines call `origin`. */
export const startPage = (
  options: StartOptions,
  origin: string,
  assets: Assets = shippedAssets,
): Promise<Page> =>
  htmlPage(assets, {
    title: 'Duet',
    styles: ['pages.css'],
    policy: { 'style-src': "'self'", 'img-src': "'self'" },
    body: html`<header>
${ornament}
<h1>Duet</h1>
<p class="lead">One content service with two voices: what is written through GraphQL is read through REST, and the other way round.</p>
<p class="facts"><span>version ${options.version}</span><span>${options.development ? 'development' : 'production'}</span></p>
</header>
<main>
<section class="voice graphql">
<h2>GraphQL</h2>
<p>Users, posts and comments from one endpoint, in exactly the shape you ask for.</p>
${linkList('graphql')}
<h3>Try it</h3>
<pre><code>${graphqlCurl(origin)}</code></pre>
<p class="small">${
      options.introspection
        ? 'Introspection is on: clients and GraphiQL can read the schema.'
        : 'Introspection is off: clients and GraphiQL cannot read the schema here.'
    }</p>
</section>
<section class="voice rest">
<h2>REST</h2>
<p>Users, posts and products as resources, each with an address, links and an entity tag.</p>
${linkList('rest')}
<h3>Try it</h3>
<pre><code>${restCurl(origin)}</code></pre>
<p class="small">Lists take filters, an order and a page size in the query string.</p>
</section>
<section class="token">
<h2>With a token</h2>
<p>${
      options.development
        ? html`Public reads need none. For the rest, make one in the project folder and send it as <code>Authorization: Bearer …</code>:`
        : html`Public reads need none. For the rest, ask whoever runs this service for one and send it as <code>Authorization: Bearer …</code>.`
    }</p>
${options.development ? html`<pre><code>${tokenCurl(origin)}</code></pre>` : ''}
</section>
</main>
<footer>
<h2>Is it well?</h2>
${linkList('service')}
</footer>`,
  })

const linkList = (place: Place) =>
  html`<ul class="links">${links
    .filter(link => link.place === place)
    .map(
      ({ href, text, note }) =>
        html`\n<li><a href="${href}">${text}</a> <span class="note">${note}</span></li>`,
    )}
</ul>`

const graphqlCurl = (origin: string): string =>
  [
    `curl ${origin}/graphql \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"query": "{ posts(limit: 3) { id title } }"}'`,
  ].join('\n')

const restCurl = (origin: string): string => `curl '${origin}/api/products?sort=-price'`

const tokenCurl = (origin: string): string =>
  [
    'TOKEN=$(bin/duet token --user 1 --role admin --ttl 1h)',
    `curl ${origin}/api/users -H "Authorization: Bearer $TOKEN"`,
  ].join('\n')

// The host comes from the request. What is not plainly one must not reach a line made for a shell.
const originOf = (url: string): string => {
  const { origin, host } = new URL(url)
  return /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host) ? origin : 'http://localhost'
}

// Two lines that part and meet again, for the two voices; the style sheet colours them.
const ornament = html`<svg class="ornament" viewBox="0 -4 240 56" aria-hidden="true">
<path class="first" d="M4 24 C 34 -8, 64 -8, 94 24 S 154 56, 184 24 S 226 6, 236 24"/>
<path class="second" d="M4 24 C 34 56, 64 56, 94 24 S 154 -8, 184 24 S 226 42, 236 24"/>
</svg>`
