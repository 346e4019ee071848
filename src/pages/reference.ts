/** The pages about the APIs: the reference of REST, its versions, the errors of both, and GraphiQL. */
import { html } from 'hono/html'
import { docsPath, errorsPath, versionsPath } from '#base/paths.ts'
import type { ErrorKind } from '#errors.ts'
import type { App } from '#http/request.ts'
import type { Assets } from '#pages/assets.ts'
import { bar, code, htmlPage, originOf, send, table, type WebPage } from '#pages/page.ts'
import type { Examples } from '#pages/start.ts'
import { type OfferedVersion, type VersionsOptions, versionsPage } from '#pages/versions.ts'

export type ReferenceOptions = {
  readonly versions: VersionsOptions
  readonly errors: {
    /** Those of the machine and of the content. */
    readonly errors: readonly ErrorKind[]
    /** An error as each API prints it; `where` names it, such as `REST, version 1`. */
    readonly examples: () => Promise<
      readonly { where: string; status: number; contentType: string; body: string }[]
    >
  }
}

/** Serves the pages. */
export const mountReference = (app: App, options: ReferenceOptions, assets: Assets): void => {
  const { versions, errors } = options
  app.get(docsPath, async c => send(await docsPage(versions.versions, assets), c))
  app.get(versionsPath, async c =>
    send(await versionsPage(versions, originOf(c.req.url), assets), c),
  )
  app.get(errorsPath, async c => send(await errorsPage(errors, assets), c))
}

/** The reference of the REST API: Swagger UI on the documents of its versions. It opens with the newest version, or with the one of `?version=`. */
const docsPage = (versions: readonly OfferedVersion[], assets: Assets): Promise<WebPage> =>
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

/** Every error code of both APIs, and how each API prints an error; each code stands under an anchor of its name. */
const errorsPage = async (
  { errors, examples }: ReferenceOptions['errors'],
  assets: Assets,
): Promise<WebPage> => {
  const sorted = errors.toSorted((one, other) => one.status - other.status)
  return htmlPage(assets, {
    title: 'Errors · Duet',
    styles: ['pages.css'],
    policy: { 'style-src': "'self'", 'img-src': "'self'" },
    body: html`<header>
${bar(errorsPath)}
<h1>Errors</h1>
<p class="lead">Every error has a code. A code keeps its meaning, so programs may rely on it; messages are for people and may change.</p>
</header>
<main>
<section class="wide">
<h2>Codes</h2>
${table(
  ['Code', 'Status', 'What it says', 'For example'],
  sorted.map(({ code: name, status, title, example = title }) => [
    html`<a id="${name}" href="#${name}">${code(name)}</a>`,
    status,
    title,
    example,
  ]),
)}
</section>
<section>
<h2>Good to know</h2>
<ul>
<li><code>UNSUPPORTED_VERSION</code> is 400 for a version in a header or parameter, 406 in <code>Accept</code>, 404 in the path.</li>
<li>What REST calls <code>VALIDATION_ERROR</code> is <code>BAD_USER_INPUT</code> in GraphQL, with the fields in <code>extensions.details</code>.</li>
<li>At <code>/graphql</code> these are the statuses for <code>Accept: application/graphql-response+json</code>; for <code>application/json</code> every well-formed request is 200.</li>
<li>401 comes with <code>WWW-Authenticate</code>, 405 with <code>Allow</code>, 429 with <code>Retry-After</code>, and so does 503 wherever trying again may help.</li>
<li>The message of a 404 contains “not found”. A fault of the server says its request id and no more: the log has the rest under that id.</li>
</ul>
</section>
${(await examples()).map(
  ({ where, status, contentType, body }) => html`<section>
<h2>${where}</h2>
<p class="small">${status} · ${code(contentType)}</p>
<pre><code>${JSON.stringify(JSON.parse(body), null, 2)}</code></pre>
</section>
`,
)}
</main>`,
  })
}

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
): Promise<WebPage> =>
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
