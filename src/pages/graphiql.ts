/** GraphiQL, for a person who opens `/graphql` in a browser. */

import { html } from 'hono/html'
import type { Assets } from './assets.ts'
import { htmlPage, type Page } from './page.ts'

export type GraphiqlOptions = {
  /** Where operations are posted. */
  readonly endpoint: string
  /** Whether the endpoint answers introspection; without it the page does not ask. */
  readonly introspection: boolean
}

const fromPackages = ['react.js', 'react-dom.js', 'graphiql.js', 'graphiql.css']

// The one style element that GraphiQL makes, to keep the page from scrolling under its dialogs and
// menus. A release that words it otherwise loses only that, and the policy stays closed.
const dialogStyle = "'sha256-Y/huXlwoYkVyQlxwSVcCi1RCDGDCSVBzDt0hYP9qlTc='"

/** The page, or one that says what to install where GraphiQL's packages were left out. */
export const graphiqlPage = async (options: GraphiqlOptions, assets: Assets): Promise<Page> => {
  const missing = await assets.missing(fromPackages)
  return missing.length === 0 ? workbench(options, assets) : absent(options, missing, assets)
}

const workbench = ({ endpoint, introspection }: GraphiqlOptions, assets: Assets): Promise<Page> =>
  htmlPage(assets, {
    title: 'GraphiQL · Duet',
    styles: ['graphiql.css', 'graphiql-page.css'],
    scripts: ['react.js', 'react-dom.js', 'graphiql.js', 'graphiql-page.js'],
    policy: {
      'script-src': "'self'",
      'style-src': `'self' ${dialogStyle}`,
      'font-src': 'data:',
      'img-src': "'self' data:",
      'connect-src': "'self'",
    },
    body: html`<main id="graphiql" data-endpoint="${endpoint}" data-introspection="${introspection ? 'on' : 'off'}">
<p class="waiting">GraphiQL loads here; it needs JavaScript. <a href="/">Back to the start page</a></p>
</main>`,
  })

const absent = (
  { endpoint }: GraphiqlOptions,
  missing: readonly string[],
  assets: Assets,
): Promise<Page> =>
  htmlPage(assets, {
    title: 'GraphiQL is not installed · Duet',
    styles: ['pages.css'],
    policy: { 'style-src': "'self'", 'img-src': "'self'" },
    body: html`<main class="notice">
<h1>GraphiQL is not installed</h1>
<p>Run <code>npm install --include=optional</code> in the folder of Duet, which brings ${missing.join(', ')}, and start the service again.</p>
<p>Meanwhile <code>POST ${endpoint}</code> answers any GraphQL client. <a href="/">Back to the start page</a></p>
</main>`,
  })
