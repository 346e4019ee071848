/** The bar at the top of a page that leads to the others. */
import { html } from 'hono/html'
import { docsPath, errorsPath, graphqlPath, versionsPath } from '#base/paths.ts'

const places = [
  { href: docsPath, text: 'REST reference' },
  { href: versionsPath, text: 'Versions' },
  { href: errorsPath, text: 'Errors' },
  { href: graphqlPath, text: 'GraphiQL' },
] as const

/** The bar of the page at a path. */
export const bar = (path: (typeof places)[number]['href']) =>
  html`<nav class="bar" aria-label="Pages">
<a class="home" href="/">Duet</a>${places.map(
    ({ href, text }) =>
      html`\n<a href="${href}"${href === path ? html` aria-current="page"` : ''}>${text}</a>`,
  )}
</nav>`
