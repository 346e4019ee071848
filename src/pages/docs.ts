/** The reference `/docs` of the REST API: Swagger UI on the documents of its versions. */
import { html } from 'hono/html'
import { docsPath } from '#base/paths.ts'
import type { Assets } from './assets.ts'
import { bar } from './bar.ts'
import { htmlPage, type Page } from './page.ts'
import type { OfferedVersion } from './versions.ts'

/** The page; it opens with the newest version, or with the one of `?version=`. */
export const docsPage = (versions: readonly OfferedVersion[], assets: Assets): Promise<Page> =>
  htmlPage(assets, {
    title: 'REST reference · Duet',
    styles: ['swagger-ui.css', 'docs-page.css'],
    scripts: ['swagger-ui.js', 'docs-page.js'],
    policy: {
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'connect-src': "'self'",
    },
    body: html`<header>
${bar(docsPath)}
<h1>REST reference</h1>
<p class="choice"><label>Version <select id="version">${versions.map(
      ({ version, document }) =>
        html`\n<option value="${version}" data-document="${document}">${version}</option>`,
    )}
</select></label> <a id="document" href="${versions.at(-1)?.document ?? ''}">OpenAPI document</a></p>
<p>Open a request and choose “Try it out” to send it. A token, given under “Authorize”, is kept in the memory of this page and nowhere else.</p>
</header>
<main id="reference">
<p class="waiting">The reference loads here; it needs JavaScript. The documents it shows: ${versions.map(
      ({ version, document }) => html`<a href="${document}">version ${version}</a> `,
    )}</p>
</main>`,
  })
