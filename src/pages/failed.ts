/** The page that a person sees where a path is not there or a page fails. */
import { html } from 'hono/html'
import { docsPath } from '#base/paths.ts'
import { preferred } from '#http/accept.ts'
import { asApiError, type Handle, type HttpContext } from '#http/exchange.ts'
import { errorHeaders } from '#http/reply.ts'
import { header } from '#http/request.ts'
import type { Assets } from '#pages/assets.ts'
import { htmlPage, signedIn, textPage } from '#pages/page.ts'

/** Whether `Accept` names HTML before JSON, as that of a browser does which opens an address; programs that name none get JSON. */
const prefersPages = (accept: string | undefined): boolean =>
  accept !== undefined && preferred(accept, ['application/json', 'text/html']) === 'text/html'

/** Answers those who prefer HTML with a page where the handler fails; for all others the failure goes on. */
export const failingInPages =
  (assets: Assets, observe: HttpContext['observe']) =>
  (handle: Handle): Handle =>
  (c, viewer, requestId) => {
    if (!prefersPages(header(c, 'accept'))) return handle(c, viewer, requestId)
    const answer = async () => {
      try {
        return await handle(c, viewer, requestId)
      } catch (thrown) {
        const error = asApiError(thrown, requestId, observe)
        const { status, title, message, code } = error
        const { body, headers } = await htmlPage(assets, {
          title: `${title} · ${assets.site.title}`,
          ...textPage,
          body: html`<header>
<nav class="bar" aria-label="Pages">
<a class="home" href="/">${assets.site.title}</a>${signedIn(assets.site)}
</nav>
<h1>${title}</h1>
<p class="lead">${message}</p>
<p class="facts"><span>${status}</span><span>${code}</span></p>
</header>
<main>
<section class="wide">
<p><a href="/">The start page</a> leads to all that is here, <a href="${docsPath}">the reference</a> to each request of the REST API.</p>
<p class="small">The log of this service has this request under ${requestId}.</p>
</section>
</main>`,
        })
        const { ETag: _, ...kept } = headers
        const own = { 'Cache-Control': 'no-store', ...errorHeaders(error) }
        return { status, headers: { ...kept, ...own }, body, code }
      }
    }
    return answer()
  }
