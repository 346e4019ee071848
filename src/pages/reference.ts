/** The pages about the APIs: the reference of REST, its versions, the errors of both, and GraphiQL. */
import { readFile } from 'node:fs/promises'
import { html, raw } from 'hono/html'
import { once } from '#base/cache.ts'
import {
  docsPath,
  errorsPath,
  graphqlPath,
  guidePath,
  restPath,
  versionPath,
  versionsPath,
} from '#base/paths.ts'
import type { ErrorKind } from '#errors.ts'
import type { App } from '#http/request.ts'
import type { Assets } from '#pages/assets.ts'
import {
  bar,
  code,
  htmlPage,
  listed,
  originOf,
  send,
  table,
  textPage,
  type WebPage,
} from '#pages/page.ts'
import type { Examples } from '#pages/start.ts'
import type { VersionDifference } from '#versions/differences.ts'

/** A version of the REST API as the pages name it. */
type OfferedVersion = {
  readonly version: number
  /** The path of its OpenAPI document. */
  readonly document: string
  /** The days, such as `2027-01-01`, from which it is deprecated and on which it ends, if they are set. */
  readonly deprecated?: string | undefined
  readonly sunset?: string | undefined
  /** Whether it has ended, so that its requests are 410. */
  readonly isWithdrawn?: boolean
}

type VersionsOptions = {
  /** Oldest first; the first is what a request gets that names none. */
  readonly versions: readonly OfferedVersion[]
  readonly differences: () => readonly VersionDifference[]
  /** A path below the REST API's, which the `curl` lines call. */
  readonly example: string
}

export type ReferenceOptions = {
  readonly versions: VersionsOptions
  /** The plural of the rows that the examples of the guide ask for. */
  readonly guided: string
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
  const { versions, errors, guided } = options
  app.get(docsPath, async c => send(await docsPage(versions.versions, assets), c))
  app.get(versionsPath, async c =>
    send(await versionsPage(versions, originOf(c.req.url), assets), c),
  )
  app.get(guidePath, async c =>
    send(await guidePage(versions, guided, originOf(c.req.url), assets), c),
  )
  app.get(errorsPath, async c => send(await errorsPage(errors, assets), c))
}

const guide = once(() => readFile(new URL('assets/guide.html', import.meta.url), 'utf8'))

/** What holds for all callers; its examples call this service, for rows that it has. */
const guidePage = async (
  { versions }: VersionsOptions,
  guided: string,
  origin: string,
  assets: Assets,
): Promise<WebPage> => {
  const body = (await guide())
    .replaceAll('http://127.0.0.1:3000', origin)
    .replaceAll('/api/v2', versionPath(versions.at(-1)?.version ?? 1))
    .replaceAll(/\bnotes/g, guided)
    .replace('<!-- the bar -->', () => String(bar(guidePath, assets)))
  return htmlPage(assets, { title: `Guide · ${assets.site.title}`, ...textPage, body: raw(body) })
}

/** The reference of the REST API: Swagger UI on the documents of its versions. It opens with the newest version, or with the one of `?version=`. */
const docsPage = (versions: readonly OfferedVersion[], assets: Assets): Promise<WebPage> =>
  htmlPage(assets, {
    title: `REST reference · ${assets.site.title}`,
    styles: ['swagger-ui.css', 'docs-page.css'],
    scripts: ['swagger-ui.js', 'docs-page.js'],
    policy: { ...textPage.policy, 'img-src': "'self' data:", 'connect-src': "'self'" },
    body: html`<header>
${bar(docsPath, assets)}
<h1>REST reference</h1>
<p class="choice"><label>Search <input type="search" id="search" autocomplete="off"></label> <label${versions.length === 1 && !assets.site.hasPeople ? ' hidden' : ''}>Version <select id="version">${versions.map(
      ({ version, document }) =>
        html`\n<option value="${version}" data-document="${document}" ${version === versions.at(-1)?.version ? 'selected' : ''}>${version}</option>`,
    )}${assets.site.hasPeople ? html`\n<option value="sign-in" data-document="/auth/openapi.json">of sign-in</option>` : ''}
</select></label> <a id="document" href="${versions.at(-1)?.document ?? ''}">OpenAPI document</a></p>
<p>Open a request and choose “Try it out” to send it. A token, given under “Authorize”, is kept in the memory of this page and nowhere else.</p>
</header>
<main id="reference">
<p class="waiting">The reference loads here; it needs JavaScript. The documents it shows: ${versions.map(
      ({ version, document }) => html`<a href="${document}">version ${version}</a> `,
    )}</p>
</main>`,
  })

const day = once(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }))
const inWords = (date: string): string => day().format(new Date(date))

/** A text with what stands between backticks as code. */
const marked = (text: string) =>
  text.split('`').map((part, index) => (index % 2 === 1 ? code(part) : part))

/** Which versions of the REST API there are, how to name one, and what differs; its `curl` lines call `origin`. */
const versionsPage = (
  { versions, differences, example }: VersionsOptions,
  origin: string,
  assets: Assets,
): Promise<WebPage> => {
  const numbers = versions.map(({ version }) => String(version))
  const [oldest, newest] = [numbers[0], numbers.at(-1)]
  const open = versions.filter(({ isWithdrawn }) => !isWithdrawn).map(({ version }) => `${version}`)
  const plain = `${origin}${restPath}${example}`
  const isOnly = versions.length === 1
  // Each way to name the newest version, with the request that does.
  const ways = {
    'In the path': `'${origin}${restPath}/v${newest}${example}'`,
    'In Accept, which is answered with that Content-Type': `'${plain}' -H 'Accept: application/vnd.duet.v${newest}+json'`,
    'In the header API-Version': `'${plain}' -H 'API-Version: ${newest}'`,
    'In the parameter version': `'${plain}${example.includes('?') ? '&' : '?'}version=${newest}'`,
  }
  // Who has one version to name needs one way: the path, which stays when there is another.
  const shown = Object.entries(ways).slice(0, isOnly ? 1 : undefined)
  return htmlPage(assets, {
    title: `Versions · ${assets.site.title}`,
    ...textPage,
    body: html`<header>
${bar(versionsPath, assets)}
<h1>Versions</h1>
<p class="lead">${isOnly ? `The REST API has one version, ${newest}.` : `The REST API is offered in ${open.length > 1 ? 'the versions' : 'version'} ${listed(open)}, over the same content.`} ${open[0] === oldest ? `A request that names none gets ${isOnly ? 'it' : `version ${oldest}`}.` : `A request that names none asks for version ${oldest}, which has ended: name a version.`}</p>
</header>
<main>
${versions.map(
  ({ version, document, deprecated, sunset, isWithdrawn }) => html`<section class="rest api">
<h2>Version ${version}</h2>
<ul>
${!isOnly && `${version}` === oldest ? html`<li>What a request gets that names no version.</li>` : ''}
${!isOnly && `${version}` === newest ? html`<li>The newest: name it in new programs.</li>` : ''}
${deprecated === undefined ? '' : html`<li>Deprecated from ${inWords(deprecated)} on.</li>`}
${sunset === undefined ? '' : html`<li>${isWithdrawn ? `Ended on ${inWords(sunset)}:` : `Ends on ${inWords(sunset)}; then`} it is answered with 410 <code>VERSION_WITHDRAWN</code>.</li>`}
</ul>
<p><a href="${docsPath}?version=${version}">Reference</a> · <a href="${document}">OpenAPI document</a></p>
</section>
`,
)}
<section class="wide">
<h2>Name a version</h2>
<p>${isOnly ? `Name it in the path, so that your program goes on as it is when there is another one.` : `In any of four ways; here it is version ${newest}.`}</p>
${shown.map(
  ([
    way,
    request,
  ]) => html`${isOnly ? '' : html`<h3>${way}</h3>\n`}<pre><code>curl ${request}</code></pre>
`,
)}
${isOnly ? '' : html`<p>Ways that name two different versions in one request are 400. A version that is not offered is 404 in the path, 406 in <code>Accept</code>, and 400 in the header or the parameter.</p>`}
</section>
${
  differences().length === 0
    ? ''
    : html`<section class="wide">
<h2>What differs</h2>
<p>Each row names only what not all versions have; the rest is the same in each.</p>
${table(
  ['', ...numbers.map(number => `version ${number}`)],
  differences().map(({ what, ways }) => [marked(what), ...ways.map(marked)]),
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

/** Every error code of both APIs, and how each API prints an error; each code stands under an anchor of its name. */
const errorsPage = async (
  { errors, examples }: ReferenceOptions['errors'],
  assets: Assets,
): Promise<WebPage> => {
  const sorted = errors.toSorted((one, other) => one.status - other.status)
  return htmlPage(assets, {
    title: `Errors · ${assets.site.title}`,
    ...textPage,
    body: html`<header>
${bar(errorsPath, assets)}
<h1>Errors</h1>
<p class="lead">Every error has a code. A code keeps its meaning, so programs may rely on it; messages are for people and may change.</p>
</header>
<main>
<section class="wide">
<h2>Codes</h2>
<form hidden><label>Filter <input type="search" id="filter" autocomplete="off"></label> <output id="found"></output></form>
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
    title: `GraphiQL · ${assets.site.title}`,
    styles: ['graphiql.css', 'graphiql-page.css'],
    scripts: ['react.js', 'react-dom.js', 'graphiql.js', 'graphiql-page.js'],
    policy: {
      'script-src': "'self'",
      'style-src': `'self' ${dialogStyle}`,
      'font-src': 'data:',
      'img-src': "'self' data:",
      'connect-src': "'self'",
    },
    body: html`<header class="top">
${bar(graphqlPath, assets)}
<label class="token">Token <input type="password" id="token" autocomplete="off" placeholder="for what is not for everybody"></label>
</header>
<main id="graphiql" data-endpoint="${endpoint}" data-introspection="${introspection ? 'on' : 'off'}" data-tabs="${JSON.stringify(examples.tabs ?? [{ query: examples.graphql }])}">
<p class="waiting">GraphiQL loads here; it needs JavaScript. <a href="/">Back to the start page</a></p>
</main>`,
  })
