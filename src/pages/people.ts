/** The pages of sign-in: `/signin` with every way in that is switched on, and `/account` with what a person may change; in English and German. */
import { html } from 'hono/html'
import { adminPath } from '#base/paths.ts'
import type { App, Http } from '#http/request.ts'
import type { Assets } from '#pages/assets.ts'
import { htmlPage, send, textPage, type WebPage } from '#pages/page.ts'

const signInPath = '/signin'
const accountPath = '/account'

const english = {
  signIn: 'Sign in',
  account: 'Your account',
  email: 'E-mail address',
  sendCode: 'Send me a code',
  code: 'Code from the mail',
  name: 'Name, if you are new here',
  password: 'Password',
  withPassword: 'Sign in with a password',
  forgot: 'Set or forgot the password? Have a link mailed',
  newPassword: 'New password, 12 characters or more',
  setPassword: 'Set the password',
  with: 'Continue with',
  or: 'or',
  needsScript: 'Signing in needs JavaScript.',
  signedInAs: 'Signed in as',
  goOn: 'Go on',
  signOut: 'Sign out',
  signOutAll: 'Sign out everywhere',
  yourName: 'Name',
  save: 'Save',
  change: 'Change',
  newEmail: 'New e-mail address',
  sessions: 'Sessions',
  thisOne: 'this one',
  end: 'End it',
  identities: 'Ways in by other services',
  link: 'Add',
  unlink: 'Remove',
  none: 'none',
  codeSent:
    'If the address can sign in here, a code is on its way. It holds for ten minutes. If none comes, ask again after a minute.',
  linkSent:
    'If the address has proved itself here, a link is on its way. It holds for ten minutes.',
  saved: 'Saved.',
  passwordSet: 'The password is set. Sign in with it now.',
  BLOCKED: 'This person is blocked and may not sign in.',
  INVALID_OTP: 'This code is wrong, or too old. Ask for another one.',
  OTP_EXPIRED: 'This code is too old. Ask for another one.',
  TOO_MANY_ATTEMPTS: 'Too many tries. Ask for another code, or wait ten minutes.',
  RATE_LIMITED: 'Too many requests. Wait a minute, and try again.',
  INVALID_EMAIL: 'This is no e-mail address.',
  INVALID_LINK: 'This link was used already, or is too old. Have a new one made.',
  INVALID_TOKEN: 'This link was used already, or is too old. Have a new one mailed.',
  INVALID_EMAIL_OR_PASSWORD: 'The address or the password is wrong.',
  PASSWORD_TOO_SHORT: 'The password is too short: 12 characters or more.',
  STEP_UP_NEEDED: 'For this, sign in again first: your session is older than ten minutes.',
  UNAVAILABLE: 'This is not available just now. Try again in a moment.',
  account_not_linked:
    'This address is known here already. Sign in with a code, and add the service under “Your account”.',
  email_not_proved: 'The service does not vouch for your address. Sign in with a code.',
  account_already_linked_to_different_user:
    'This identity belongs to somebody else here. Sign in with it, or choose another one there.',
  unable_to_link_account: 'The service does not vouch for its address, so it cannot be added.',
  access_denied: 'The service did not let you in, or you said no there.',
  state_mismatch: 'This sign-in was begun elsewhere, or too long ago. Begin again.',
  signup_disabled: 'Nobody can sign up here by themselves.',
  failed: 'That did not work',
}

/** The words of the pages, and what they say of errors, by their codes. */
type PageWords = typeof english

const german: PageWords = {
  signIn: 'Anmelden',
  account: 'Ihr Konto',
  email: 'E-Mail-Adresse',
  sendCode: 'Code schicken',
  code: 'Code aus der Mail',
  name: 'Name, falls Sie neu hier sind',
  password: 'Passwort',
  withPassword: 'Mit Passwort anmelden',
  forgot: 'Passwort festlegen oder vergessen? Link schicken lassen',
  newPassword: 'Neues Passwort, mindestens 12 Zeichen',
  setPassword: 'Passwort festlegen',
  with: 'Weiter mit',
  or: 'oder',
  needsScript: 'Zum Anmelden braucht es JavaScript.',
  signedInAs: 'Angemeldet als',
  goOn: 'Weiter',
  signOut: 'Abmelden',
  signOutAll: 'Überall abmelden',
  yourName: 'Name',
  save: 'Speichern',
  change: 'Ändern',
  newEmail: 'Neue E-Mail-Adresse',
  sessions: 'Sitzungen',
  thisOne: 'diese',
  end: 'Beenden',
  identities: 'Anmeldung über andere Dienste',
  link: 'Hinzufügen',
  unlink: 'Entfernen',
  none: 'keine',
  codeSent:
    'Wenn die Adresse sich hier anmelden kann, ist ein Code unterwegs. Er gilt zehn Minuten. Kommt keiner, dann fordern Sie nach einer Minute einen neuen an.',
  linkSent: 'Wenn die Adresse hier bestätigt ist, ist ein Link unterwegs. Er gilt zehn Minuten.',
  saved: 'Gespeichert.',
  passwordSet: 'Das Passwort ist festgelegt. Melden Sie sich jetzt damit an.',
  BLOCKED: 'Diese Person ist gesperrt und kann sich nicht anmelden.',
  INVALID_OTP: 'Dieser Code ist falsch oder zu alt. Fordern Sie einen neuen an.',
  OTP_EXPIRED: 'Dieser Code ist zu alt. Fordern Sie einen neuen an.',
  TOO_MANY_ATTEMPTS:
    'Zu viele Versuche. Fordern Sie einen neuen Code an, oder warten Sie zehn Minuten.',
  RATE_LIMITED: 'Zu viele Anfragen. Warten Sie eine Minute, und versuchen Sie es noch einmal.',
  INVALID_EMAIL: 'Das ist keine E-Mail-Adresse.',
  INVALID_LINK: 'Dieser Link wurde schon benutzt oder ist zu alt. Lassen Sie einen neuen machen.',
  INVALID_TOKEN:
    'Dieser Link wurde schon benutzt oder ist zu alt. Lassen Sie sich einen neuen schicken.',
  INVALID_EMAIL_OR_PASSWORD: 'Die Adresse oder das Passwort ist falsch.',
  PASSWORD_TOO_SHORT: 'Das Passwort ist zu kurz: mindestens 12 Zeichen.',
  STEP_UP_NEEDED: 'Melden Sie sich dafür noch einmal an: Ihre Sitzung ist älter als zehn Minuten.',
  UNAVAILABLE: 'Das geht gerade nicht. Versuchen Sie es gleich noch einmal.',
  account_not_linked:
    'Diese Adresse ist hier schon bekannt. Melden Sie sich mit einem Code an, und fügen Sie den Dienst unter „Ihr Konto“ hinzu.',
  email_not_proved: 'Der Dienst bürgt nicht für Ihre Adresse. Melden Sie sich mit einem Code an.',
  account_already_linked_to_different_user:
    'Diese Anmeldung gehört hier schon jemand anderem. Melden Sie sich damit an, oder wählen Sie dort eine andere.',
  unable_to_link_account:
    'Der Dienst bürgt nicht für seine Adresse, darum lässt er sich nicht hinzufügen.',
  access_denied: 'Der Dienst hat Sie nicht angemeldet, oder Sie haben dort abgelehnt.',
  state_mismatch: 'Diese Anmeldung begann woanders, oder vor zu langer Zeit. Beginnen Sie neu.',
  signup_disabled: 'Hier kann sich niemand selbst anmelden, der neu ist.',
  failed: 'Das hat nicht geklappt',
}

const words = { en: english, de: german } as const

export type PeoplePages = {
  /** The ways in that are switched on. */
  readonly ways: readonly string[]
  readonly providers: readonly { readonly name: string; readonly label: string }[]
  readonly language: (c: Http) => keyof typeof words
  /** The REST path of a person's row, without the id, and what its name is called there; absent where REST does not change it. */
  readonly row?: { readonly path: string; readonly name: string } | undefined
  /** Whether `/account` leads to the admin. */
  readonly hasAdmin: boolean
}

/** No script but ours, which makes no markup of texts, and no request but to us. */
const policy = {
  ...textPage.policy,
  'connect-src': "'self'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
} as const

const framed = (
  assets: Assets,
  language: keyof typeof words,
  title: string,
  pages: PeoplePages,
  body: unknown,
): Promise<WebPage> => {
  const data = { words: words[language], providers: pages.providers, row: pages.row }
  return htmlPage(assets, {
    title: `${title} · ${assets.site.title}`,
    language,
    styles: ['pages.css', 'people.css'],
    scripts: ['people.js'],
    policy,
    body: html`<header>
<nav class="bar"><a class="home" href="/">${assets.site.title}</a></nav>
<h1>${title}</h1>
</header>
<main class="people" id="people" data-page="${JSON.stringify(data)}">
<noscript><p>${words[language].needsScript}</p></noscript>
<p id="said" role="status" tabindex="-1"></p>
${body}
</main>`,
  })
}

const field = (label: string, attributes: unknown) =>
  html`<label>${label} <input ${attributes}></label>`

const emailField = (label: string) =>
  field(
    label,
    html`name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required`,
  )

const codeField = (label: string) =>
  field(
    label,
    html`name="otp" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{8}" maxlength="8" required`,
  )

const passwordField = (label: string, kind: string) =>
  field(
    label,
    html`name="password" type="password" autocomplete="${kind}" minlength="12" maxlength="128" required`,
  )

const signInPage = (assets: Assets, language: keyof typeof words, pages: PeoplePages) => {
  const say = words[language]
  const has = (way: string) => pages.ways.includes(way)
  return framed(
    assets,
    language,
    say.signIn,
    pages,
    html`<section id="in" hidden>
<p>${say.signedInAs} <strong id="who"></strong></p>
<p><a id="on" href="/">${say.goOn}</a> · <a href="${accountPath}">${say.account}</a> · <button type="button" class="plain" id="out">${say.signOut}</button></p>
</section>
<div id="ways" hidden>
${
  has('code')
    ? html`<form id="ask">
${emailField(say.email)}
<button>${say.sendCode}</button>
</form>
<form id="code" hidden>
${codeField(say.code)}
${field(say.name, html`name="name" autocomplete="name" maxlength="40"`)}
<button>${say.signIn}</button>
</form>`
    : ''
}
${
  has('oidc')
    ? html`<div class="providers">${pages.providers.map(
        ({ name, label }) =>
          html`\n<button type="button" data-provider="${name}">${say.with} ${label}</button>`,
      )}
</div>`
    : ''
}
${
  has('password')
    ? html`<form id="password">
<h2>${say.withPassword}</h2>
${emailField(say.email)}
${passwordField(say.password, 'current-password')}
<button>${say.signIn}</button>
<button type="button" class="plain" id="forgot">${say.forgot}</button>
</form>
<form id="reset" hidden>
${passwordField(say.newPassword, 'new-password')}
<button>${say.setPassword}</button>
</form>`
    : ''
}
</div>`,
  )
}

const accountPage = (assets: Assets, language: keyof typeof words, pages: PeoplePages) => {
  const say = words[language]
  return framed(
    assets,
    language,
    say.account,
    pages,
    html`<div id="account" hidden>
<section>
<p>${say.signedInAs} <strong id="who"></strong>${pages.hasAdmin ? html` · <a href="${adminPath}">Admin</a>` : ''}</p>
${
  pages.row
    ? html`<form id="rename">
${field(say.yourName, html`name="name" autocomplete="name" required maxlength="200"`)}
<button>${say.save}</button>
</form>`
    : ''
}
</section>
${
  pages.ways.includes('code')
    ? html`<section>
<h2>${say.email}</h2>
<p id="address"></p>
<form id="move">
${field(say.newEmail, html`name="newEmail" type="email" autocomplete="email" required`)}
<button>${say.sendCode}</button>
</form>
<form id="moved" hidden>
${codeField(say.code)}
<button>${say.change}</button>
</form>
</section>`
    : ''
}
${
  pages.ways.includes('oidc')
    ? html`<section>
<h2>${say.identities}</h2>
<ul id="identities"></ul>
<div class="providers">${pages.providers.map(
        ({ name, label }) =>
          html`\n<button type="button" data-provider="${name}">${say.link}: ${label}</button>`,
      )}
</div>
</section>`
    : ''
}
<section>
<h2>${say.sessions}</h2>
<ul id="sessions"></ul>
<p><button type="button" id="out">${say.signOut}</button> <button type="button" class="plain" id="everywhere">${say.signOutAll}</button></p>
</section>
</div>`,
  )
}

/** Serves both pages, in the language that their reader likes best. */
export const mountPeoplePages = (app: App, pages: PeoplePages, assets: Assets): void => {
  for (const [path, page] of [
    [signInPath, signInPage],
    [accountPath, accountPage],
  ] as const)
    app.get(path, async c => {
      const made = await page(assets, pages.language(c), pages)
      const headers = {
        ...made.headers,
        Vary: 'Accept, Accept-Language',
        'Cache-Control': 'no-cache',
      }
      return send({ ...made, headers }, c)
    })
}
