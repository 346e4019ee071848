/** The pages about the APIs: the reference of the REST API, its versions, and the errors of both. */
import { html } from 'hono/html'
import { docsPath, errorsPath, versionsPath } from '#base/paths.ts'
import type { App } from '#http/request.ts'
import type { Assets } from './assets.ts'
import { type ErrorsOptions, errorsPage } from './error-codes.ts'
import { bar, htmlPage, originOf, type Page, send } from './page.ts'
import { type OfferedVersion, type VersionsOptions, versionsPage } from './versions.ts'

export type ReferenceOptions = {
  readonly versions: VersionsOptions
  readonly errors: ErrorsOptions
}

/** The reference of the REST API: Swagger UI on the documents of its versions. It opens with the newest version, or with the one of `?version=`. */
const docsPage = (versions: readonly OfferedVersion[], assets: Assets): Promise<Page> =>
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

/** Serves the pages. */
export const mountReference = (app: App, options: ReferenceOptions, assets: Assets): void => {
  const { versions, errors } = options
  app.get(docsPath, async c => send(await docsPage(versions.versions, assets), c))
  app.get(versionsPath, async c =>
    send(await versionsPage(versions, originOf(c.req.url), assets), c),
  )
  app.get(errorsPath, async c => send(await errorsPage(errors, assets), c))
}
