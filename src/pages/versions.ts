/** The page `/docs/versions`: which versions of the REST API there are, how to name one, and what differs. */
import { html } from 'hono/html'
import { once } from '#base/cache.ts'
import { docsPath, restPath, versionsPath } from '#base/paths.ts'
import type { VersionDifference } from '#versions/differences.ts'
import type { Assets } from './assets.ts'
import { bar, code, htmlPage, listed, table, type WebPage } from './page.ts'

/** A version of the REST API as the pages name it. */
export type OfferedVersion = {
  readonly version: number
  /** The path of its OpenAPI document. */
  readonly document: string
  /** The days, such as `2027-01-01`, from which it is deprecated and on which it ends, if they are set. */
  readonly deprecated?: string | undefined
  readonly sunset?: string | undefined
  /** Whether it has ended, so that its requests are 410. */
  readonly isWithdrawn?: boolean
}

export type VersionsOptions = {
  /** Oldest first; the first is what a request gets that names none. */
  readonly versions: readonly OfferedVersion[]
  readonly differences: readonly VersionDifference[]
  /** A path below the REST API's, which the `curl` lines call. */
  readonly example: string
}

const day = once(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }))
const inWords = (date: string): string => day().format(new Date(date))

/** A text with what stands between backticks as code. */
const marked = (text: string) =>
  text.split('`').map((part, index) => (index % 2 === 1 ? code(part) : part))

/** The page; its `curl` lines call `origin`. */
export const versionsPage = (
  { versions, differences, example }: VersionsOptions,
  origin: string,
  assets: Assets,
): Promise<WebPage> => {
  const numbers = versions.map(({ version }) => String(version))
  const [oldest, newest] = [numbers[0], numbers.at(-1)]
  const open = versions.filter(({ isWithdrawn }) => !isWithdrawn).map(({ version }) => `${version}`)
  const plain = `${origin}${restPath}${example}`
  // Each way to name the newest version, with the request that does.
  const ways = {
    'In the path': `'${origin}${restPath}/v${newest}${example}'`,
    'In Accept, which is answered with that Content-Type': `'${plain}' -H 'Accept: application/vnd.duet.v${newest}+json'`,
    'In the header API-Version': `'${plain}' -H 'API-Version: ${newest}'`,
    'In the parameter version': `'${plain}${example.includes('?') ? '&' : '?'}version=${newest}'`,
  }
  return htmlPage(assets, {
    title: 'Versions · Duet',
    styles: ['pages.css'],
    policy: { 'style-src': "'self'", 'img-src': "'self'" },
    body: html`<header>
${bar(versionsPath)}
<h1>Versions</h1>
<p class="lead">The REST API is offered in ${open.length > 1 ? 'the versions' : 'version'} ${listed(open)}, over the same content. ${open[0] === oldest ? `A request that names none gets version ${oldest}.` : `A request that names none asks for version ${oldest}, which has ended: name a version.`}</p>
</header>
<main>
${versions.map(
  ({ version, document, deprecated, sunset, isWithdrawn }) => html`<section class="rest api">
<h2>Version ${version}</h2>
<ul>
${`${version}` === oldest ? html`<li>What a request gets that names no version.</li>` : ''}
${`${version}` === newest ? html`<li>The newest: name it in new programs.</li>` : ''}
${deprecated === undefined ? '' : html`<li>Deprecated from ${inWords(deprecated)} on.</li>`}
${sunset === undefined ? '' : html`<li>${isWithdrawn ? `Ended on ${inWords(sunset)}:` : `Ends on ${inWords(sunset)}; then`} it is answered with 410 <code>VERSION_WITHDRAWN</code>.</li>`}
</ul>
<p><a href="${docsPath}?version=${version}">Reference</a> · <a href="${document}">OpenAPI document</a></p>
</section>
`,
)}
<section class="wide">
<h2>Name a version</h2>
<p>In any of four ways; here it is version ${newest}.</p>
${Object.entries(ways).map(
  ([way, request]) => html`<h3>${way}</h3>
<pre><code>curl ${request}</code></pre>
`,
)}
<p>Ways that name two different versions in one request are 400. A version that is not offered is 404 in the path, 406 in <code>Accept</code>, and 400 in the header or the parameter.</p>
</section>
${
  differences.length === 0
    ? ''
    : html`<section class="wide">
<h2>What differs</h2>
<p>Each row names only what not all versions have; the rest is the same in each.</p>
${table(
  ['', ...numbers.map(number => `version ${number}`)],
  differences.map(({ what, ways }) => [marked(what), ...ways.map(marked)]),
)}
</section>`
}
<section class="wide">
<h2>Headers of an answer</h2>
${table(
  ['Header', 'What it says'],
  [
    [code('API-Version'), 'The version that answered; on every answer.'],
    [
      code('Deprecation'),
      html`The version is deprecated: <code>true</code>, or the moment as RFC 9745 has it, such as <code>@1798761600</code>.`,
    ],
    [code('Sunset'), 'When the version ends, as RFC 8594 has it.'],
    [
      code('Link'),
      html`With <code>rel=successor-version</code> the same request in the version that follows, with <code>rel="deprecation"</code> this page.`,
    ],
  ],
)}
<p>The last three stand on every answer of a deprecated version, errors and 304 included. A list has other links in <code>Link</code> as well, to its pages.</p>
</section>
</main>`,
  })
}
