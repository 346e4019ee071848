/** The page `/verify-email` that the link in a message opens: it hands the token in the link to the service. */
import type { Env, Hono } from 'hono'
import { html } from 'hono/html'
import { type Assets, shippedAssets } from './assets.ts'
import { htmlPage, type Page, send } from './page.ts'

/** Serves the page. */
export const mountVerify = <E extends Env>(app: Hono<E>, assets: Assets = shippedAssets): void => {
  app.get('/verify-email', async c => send(await verifyPage(assets), c.req.raw))
}

/** The page; what it needs of the link stands behind its mark, which no server sees. */
export const verifyPage = (assets: Assets = shippedAssets): Promise<Page> =>
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
