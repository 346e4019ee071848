/** The page `/docs/errors`: every error code of both APIs, and how each API prints an error. */
import { html } from 'hono/html'
import { errorsPath } from '#base/paths.ts'
import type { ErrorKind } from '#errors.ts'
import type { Assets } from './assets.ts'
import { bar, code, htmlPage, type Page, table } from './page.ts'

/** An error as an API prints it, for example. */
type ErrorExample = {
  /** Where it is printed so, such as `REST, version 1`. */
  readonly where: string
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export type ErrorsOptions = {
  /** Those of the machine and of the content. */
  readonly errors: readonly ErrorKind[]
  readonly examples: () => Promise<readonly ErrorExample[]>
}

/** The page; each code stands under an anchor of its name. */
export const errorsPage = async (
  { errors, examples }: ErrorsOptions,
  assets: Assets,
): Promise<Page> => {
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
${notes}
${(await examples()).map(exampleCard)}
</main>`,
  })
}

const exampleCard = ({ where, status, contentType, body }: ErrorExample) =>
  html`<section>
<h2>${where}</h2>
<p class="small">${status} · ${code(contentType)}</p>
<pre><code>${JSON.stringify(JSON.parse(body), null, 2)}</code></pre>
</section>
`

const notes = html`<section>
<h2>Good to know</h2>
<ul>
<li><code>UNSUPPORTED_VERSION</code> is 400 for a version in a header or parameter, 406 in <code>Accept</code>, 404 in the path.</li>
<li>What REST calls <code>VALIDATION_ERROR</code> is <code>BAD_USER_INPUT</code> in GraphQL, with the fields in <code>extensions.details</code>.</li>
<li>At <code>/graphql</code> these are the statuses for <code>Accept: application/graphql-response+json</code>; for <code>application/json</code> every well-formed request is 200.</li>
<li>401 comes with <code>WWW-Authenticate</code>, 405 with <code>Allow</code>, 429 with <code>Retry-After</code>, and so does 503 wherever trying again may help.</li>
<li>The message of a 404 contains “not found”. A fault of the server says its request id and no more: the log has the rest under that id.</li>
</ul>
</section>`
