/** The page `/verify-email` that the link in a message opens: it hands the token in the link to the service. */
import { html } from 'duet/actions'
import { type Assets, type ContentPage, htmlPage, versionPath, type WebPage } from 'duet/routes'
import { versions } from '../../versions.ts'

/** The page; it reads the user and token from the link's fragment, which no server sees. */
const page = (assets: Assets): Promise<WebPage> =>
  htmlPage(assets, {
    title: 'Confirm your email address',
    scripts: ['verify-email.js'],
    policy: {
      'style-src': "'self'",
      'img-src': "'self'",
      'script-src': "'self'",
      'connect-src': "'self'",
    },
    body: html`<header>
<nav class="bar" aria-label="Pages"><a class="home" href="/">${assets.site.title}</a></nav>
<h1>Confirm your email address</h1>
<p class="lead">The link in your mail contains a confirmation code. Only you may use it, so the service asks who you are.</p>
</header>
<main>
<section class="wide">
<form id="verify" data-rest="${versionPath(versions.newest)}">
<p><label>Id of the user <input name="user" inputmode="numeric" autocomplete="off" required></label></p>
<p><label>Confirmation code from the mail <input name="token" autocomplete="off" required></label></p>
<p><label>Your access token <input name="access" type="password" autocomplete="off" required></label></p>
<p><button>Confirm</button></p>
</form>
<p id="answer" role="status"></p>
</section>
</main>`,
  })

/** The page with its script. */
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
