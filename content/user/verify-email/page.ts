/** The page `/verify-email` that the link in a message opens: it hands the token in the link to the service. */
import { html } from 'hono/html'
import type { Assets } from '#pages/assets.ts'
import { type ContentPage, htmlPage, type Page } from '#pages/page.ts'

/** The page; it reads the user and token from the link's fragment, which no server sees. */
const page = (assets: Assets): Promise<Page> =>
  htmlPage(assets, {
    title: 'Confirm your email address',
    styles: ['pages.css'],
    scripts: ['verify-email.js'],
    policy: {
      'style-src': "'self'",
      'img-src': "'self'",
      'script-src': "'self'",
      'connect-src': "'self'",
    },
    body: html`<header>
<h1>Confirm your email address</h1>
<p class="lead">Your message has brought a token for the address. Only you may use it, so the service asks who you are.</p>
</header>
<main>
<section>
<form id="verify">
<p><label>User <input name="user" inputmode="numeric" autocomplete="off" required></label></p>
<p><label>Token from the message <input name="token" autocomplete="off" required></label></p>
<p><label>Your access token <input name="access" type="password" autocomplete="off" required></label></p>
<p><button>Confirm</button></p>
</form>
<p id="answer" role="status"></p>
</section>
</main>`,
  })

export const verifyPage: ContentPage = {
  path: '/verify-email',
  assets: {
    'verify-email.js': {
      file: new URL('verify-email.js', import.meta.url),
      type: 'text/javascript; charset=utf-8',
    },
  },
  page,
}
