/** What a person sees who opens an address in a browser: a page where a path is not there or a page fails, and the answers of the REST API to be read. */
import { html } from 'hono/html'
import { docsPath } from '#base/paths.ts'
import { preferred } from '#http/accept.ts'
import { asApiError, type Handle, type HttpContext } from '#http/exchange.ts'
import { errorHeaders, type Reply } from '#http/reply.ts'
import { type Http, header } from '#http/request.ts'
import type { Assets } from '#pages/assets.ts'
import { bar, htmlPage, textPage } from '#pages/page.ts'

/** Whether `Accept` names HTML before JSON, as that of a browser does which opens an address; programs that name none get JSON. */
const prefersPages = (accept: string | undefined): boolean =>
  accept !== undefined && preferred(accept, ['application/json', 'text/html']) === 'text/html'

const withFailuresAsPages =
  (assets: Assets, observe: HttpContext['observe']) =>
  (handle: Handle) =>
  async (...[c, viewer, requestId]: Parameters<Handle>): Promise<Reply> => {
    try {
      return await handle(c, viewer, requestId)
    } catch (thrown) {
      const error = asApiError(thrown, requestId, observe)
      const { status, title, message, code } = error
      const { body, headers } = await htmlPage(assets, {
        title: `${title} · ${assets.site.title}`,
        ...textPage,
        body: html`<header>
${bar(undefined, assets)}
<h1>${title}</h1>
<p class="lead">${message}</p>
<p class="facts"><span>${status}</span><span>${code}</span></p>
</header>
<main>
<section class="wide">
<p><a href="/">The start page</a> leads to all that is here, <a href="${docsPath}">the reference</a> to each request of the REST API.</p>${
          status === 401
            ? html`
<p>A browser that opens an address sends no token; the reference does.</p>`
            : ''
        }
<p class="small">The log of this service has this request under ${requestId}.</p>
</section>
</main>`,
      })
      const { ETag: _, ...kept } = headers
      const own = { 'Cache-Control': 'no-store', ...errorHeaders(error) }
      return { status, headers: { ...kept, ...own }, body, code }
    }
  }

/** Answers those who prefer HTML with a page where the handler fails; for all others the failure goes on. */
export const failingInPages = (assets: Assets, observe: HttpContext['observe']) => {
  const asPages = withFailuresAsPages(assets, observe)
  return (handle: Handle): Handle => {
    const forPeople = asPages(handle)
    return (c, viewer, requestId) =>
      (prefersPages(header(c, 'accept')) ? forPeople : handle)(c, viewer, requestId)
  }
}

/** The most characters of JSON that are laid out; a longer text is left to the browser. */
const readable = 262_144

/** JSON with a line for each member, in which each `href` and each `url` of a file leads there. */
const laidOut = (json: string) =>
  JSON.stringify(JSON.parse(json), undefined, 2)
    .split(/(?<="(?:href|url)": ")(\/(?!\/)[^"\\]*)(?=")/)
    .map((part, index) => (index % 2 === 0 ? part : html`<a href="${part}">${part}</a>`))

/** The links of a `Link` header by their relations, such as to the next page of a list. */
const linksIn = (link = '') =>
  [...link.matchAll(/<(\/[^>]*)>; rel="(first|prev|next|last)"/g)].map(
    ([, href, rel]) => html`\n<li><a href="${href}">${rel}</a></li>`,
  )

const shown = async (assets: Assets, c: Http, reply: Reply): Promise<Reply> => {
  const { status, headers, body } = reply
  const type = headers['Content-Type'] ?? ''
  if (status !== 200 || typeof body !== 'string' || body.length > readable) return reply
  if (!/^application\/(.+\+)?json\b/.test(type)) return reply
  const { pathname, search } = new URL(c.req.url)
  const path = `${pathname}${search}`
  const links = linksIn(headers.Link)
  const page = await htmlPage(assets, {
    title: `${path} · ${assets.site.title}`,
    ...textPage,
    body: html`<header>
${bar(undefined, assets)}
<h1 class="path">${path}</h1>
<p class="facts"><span>${status}</span><span>${type}</span></p>
${links.length > 0 ? html`<ul class="contents">${links}</ul>` : ''}
</header>
<main>
<section class="wide">
<pre><code>${laidOut(body)}</code></pre>
<p class="small">Programs get this without a page around it. The <a href="${docsPath}">reference</a> has the parameters that it takes.</p>
</section>
</main>`,
  })
  const { ETag: _, ...kept } = headers
  const { ETag: __, Vary: ___, 'Cache-Control': ____, ...own } = page.headers
  const vary = [headers.Vary, 'Sec-Fetch-Dest'].filter(Boolean).join(', ')
  return {
    ...reply,
    headers: { ...kept, ...own, Vary: vary, 'Cache-Control': 'no-store' },
    body: page.body,
  }
}

/**
 * Shows a person who opens an address of the REST API its answer as a page, where the handler is asked for a document: some clients of
 * programs name HTML first in `Accept` and expect JSON.
 */
export const answeringInPages = (assets: Assets, observe: HttpContext['observe']) => {
  const asPages = withFailuresAsPages(assets, observe)
  return (handle: Handle): Handle => {
    const answered = asPages(handle)
    const forPeople: Handle = async (c, viewer, requestId) =>
      shown(assets, c, await answered(c, viewer, requestId))
    return (c, viewer, requestId) => {
      const isForPeople = c.req.method === 'GET' && prefersPages(header(c, 'accept'))
      return (isForPeople ? forPeople : handle)(c, viewer, requestId)
    }
  }
}
