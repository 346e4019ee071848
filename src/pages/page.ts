/** The common parts of pages for people: the document's frame, the headers that exclude foreign code, the bar, and tables. */
import { hash } from 'node:crypto'
import { html } from 'hono/html'
import { once } from '#base/cache.ts'
import { docsPath, errorsPath, graphqlPath, guidePath, versionsPath } from '#base/paths.ts'
import { answer } from '#http/answer.ts'
import { isNotModified } from '#http/conditional.ts'
import { notAPage } from '#http/reply.ts'
import { checkHead, type Http, header, requestIdOf } from '#http/request.ts'
import type { Assets, Site } from '#pages/assets.ts'

export type WebPage = {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** A page that the content has of its own, with the files that it loads. */
export type ContentPage = {
  readonly path: string
  /** Its own files, by the names under which they are served. */
  readonly assets: Readonly<Record<string, { readonly file: URL; readonly type: string }>>
  readonly page: (assets: Assets) => Promise<WebPage>
}

type PageContent = {
  readonly title: string
  /** The language of its texts; English unless given. */
  readonly language?: string
  readonly styles?: readonly string[]
  readonly scripts?: readonly string[]
  /** The sources the page may load beyond the common policy, which allows none; usually our styles and pictures. */
  readonly policy?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** What a page of text loads. */
export const textPage = {
  scripts: ['pages.js'],
  policy: { 'script-src': "'self'", 'style-src': "'self'", 'img-src': "'self'" },
} as const

/** A whole HTML page; text put into `body` by the `html` template is escaped. */
export const htmlPage = async (assets: Assets, content: PageContent): Promise<WebPage> => {
  const { policy = { 'style-src': "'self'", 'img-src': "'self'" } } = content
  const icon = await assets.url('mark.svg')
  const files = ['frame.css', ...(content.styles ?? ['pages.css'])]
  const styles = await Promise.all(files.map(assets.url))
  // Pages with scripts show who is signed in, where anybody can be.
  const isWatched = assets.site.hasPeople && content.language === undefined
  const own = isWatched ? ['session.js', ...(content.scripts ?? [])] : (content.scripts ?? [])
  const scripts = await Promise.all(own.map(assets.url))
  const policies = isWatched
    ? { ...policy, 'script-src': "'self'", 'connect-src': "'self'" }
    : policy
  const document = await html`<!doctype html>
<html lang="${content.language ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${content.title}</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
${styles.map(href => html`<link rel="stylesheet" href="${href}">\n`)}
${scripts.map(src => html`<script src="${src}" defer></script>\n`)}
</head>
<body>
${content.body}
</body>
</html>
`
  return page(String(document), 'text/html; charset=utf-8', {
    'Content-Security-Policy': Object.entries({
      'default-src': "'none'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      ...policies,
    })
      .map(([directive, sources]) => `${directive} ${sources}`)
      .join('; '),
    'Referrer-Policy': 'no-referrer',
  })
}

/** The answer to a request for the page: the page, or 304 if the caller has it; throws what `checkHead` throws. */
export const send = ({ body, headers }: WebPage, c: Http): Response => {
  checkHead(c)
  const all = { ...headers, 'X-Request-Id': requestIdOf(c) }
  return isNotModified(header(c, 'if-none-match'), headers.ETag as string)
    ? answer(c, 304, { headers: all, body: null })
    : answer(c, 200, { headers: all, body })
}

/** A body with the headers of a page: revalidated on each visit, and chosen by `Accept`. */
export const page = (body: string, type: string, more: WebPage['headers'] = {}): WebPage => ({
  body,
  headers: {
    'Content-Type': type,
    'Cache-Control': 'public, no-cache',
    ETag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"`,
    Vary: 'Accept',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': notAPage,
    ...more,
  },
})

const places = [
  { href: docsPath, text: 'REST reference' },
  { href: guidePath, text: 'Guide' },
  { href: versionsPath, text: 'Versions' },
  { href: errorsPath, text: 'Errors' },
  { href: graphqlPath, text: 'GraphiQL' },
] as const

/** Where a page says who is signed in; nothing where nobody can be. */
export const signedIn = ({ hasPeople }: Pick<Site, 'hasPeople'>) =>
  hasPeople ? html`\n<span id="session"></span>` : ''

/** The bar of the page at a path, or of one that it does not lead to. */
export const bar = (path: (typeof places)[number]['href'] | undefined, { site }: Assets) => {
  const shown = places.filter(({ href }) => href !== graphqlPath || site.hasGraphiql)
  const links = shown.map(
    ({ href, text }) =>
      html`\n<a href="${href}"${href === path ? html` aria-current="page"` : ''}>${text}</a>`,
  )
  return html`<nav class="bar" aria-label="Pages">
<a class="home" href="/">${site.title}</a>${links}${signedIn(site)}
</nav>`
}

/** A table whose rows begin with their heading; on narrow screens each cell stands below its heading. */
export const table = (head: readonly string[], rows: readonly (readonly unknown[])[]) =>
  html`<div class="table" tabindex="0"><table>
<thead><tr>${head.map(text => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first, ...cells]) =>
      html`\n<tr><th scope="row">${first}</th>${cells.map((cell, index) => html`<td data-head="${head[index + 1] ?? ''}">${cell}</td>`)}</tr>`,
  )}
</tbody>
</table></div>`

/** A text of code in a cell or a sentence. */
export const code = (text: string) => html`<code>${text}</code>`

// British, for a list without a comma before its last word.
const lists = once(() => new Intl.ListFormat('en-GB'))

/** The parts as one text, with commas and an “and”. */
export const listed = (parts: readonly string[]): string => lists().format(parts)

/** The origin of a URL, for a shell command; any host that is not plainly one becomes `localhost`. */
export const originOf = (url: string): string => {
  const { origin, host } = new URL(url)
  return /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host) ? origin : 'http://localhost'
}
