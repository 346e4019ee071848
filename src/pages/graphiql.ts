/** GraphiQL, for a person who opens `/graphql` in a browser. */
import { html } from 'hono/html'
import type { Assets } from './assets.ts'
import { htmlPage, type Page } from './page.ts'
import type { Examples } from './start.ts'

export type GraphiqlOptions = {
  /** The path that operations are posted to. */
  readonly endpoint: string
  /** Whether the endpoint answers introspection; without it the page does not request it. */
  readonly introspection: boolean
  readonly examples: Examples
}

// The one style element that GraphiQL makes, to keep the page from scrolling under its dialogs and
// menus. A release that words it otherwise loses only that, and the policy stays closed.
const dialogStyle = "'sha256-nzTgYzXYDNe6BAHiiI7NNlfK8n/auuOAhh2t92YvuXo='"

/** The page with GraphiQL for this endpoint. */
export const graphiqlPage = (
  { endpoint, introspection, examples }: GraphiqlOptions,
  assets: Assets,
): Promise<Page> =>
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
    body: html`<main id="graphiql" data-endpoint="${endpoint}" data-introspection="${introspection ? 'on' : 'off'}" data-tabs="${JSON.stringify(examples.tabs ?? [{ query: examples.graphql }])}">
<p class="waiting">GraphiQL loads here; it needs JavaScript. <a href="/">Back to the start page</a></p>
</main>`,
  })
