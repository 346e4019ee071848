// What /signin and /account do in a browser; all texts of others go in as text, since the pages' policy makes no markup of them.

const main = document.getElementById('people')
const { words, providers, row } = JSON.parse(main.dataset.page)
const $ = id => document.getElementById(id)
const flag = 'duet.signedIn'

class Refused extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

const ask = async (method, path, body, headers = {}) => {
  const json = body && { 'Content-Type': 'application/json' }
  const sent = {
    method,
    headers: { ...json, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  }
  const response = await fetch(path, sent)
  const told = await response.json().catch(() => null)
  if (response.ok) return told
  const code = told?.code ?? told?.error?.code
  // An account without a session, or with one that is too old for this, leads to a new one.
  const anew = code === 'STEP_UP_NEEDED' ? `&again=1&error=${code}` : ''
  if ($('account') && (anew || response.status === 401))
    location.assign(`/signin?returnTo=/account${anew}`)
  throw new Refused(code, told?.message ?? told?.detail ?? response.status)
}
const auth = (method, path, body) => ask(method, `/auth${path}`, body)

/** What is said of an error: in the words of the page where it has some. */
const sayOf = ({ code, message }) =>
  Object.hasOwn(words, code) ? words[code] : `${words.failed}: ${message ?? code}`

/** What is said of an error that came in the address, which anybody may write: a sentence of the page, and none of its letters. */
const sayOfAddress = () => {
  const code = new URLSearchParams(location.search).get('error')
  const isKnown = /_|^[A-Z]+$/.test(code) && Object.hasOwn(words, code)
  if (code) return isKnown ? words[code] : `${words.failed}.`
}

const say = (text, isError) => {
  const said = $('said')
  said.textContent = text ?? ''
  said.classList.toggle('error', isError === true)
  if (isError) said.focus()
}

/** Does the work of a button or a form once at a time, and says what came of it. */
const doing = work => async event => {
  event?.preventDefault()
  main.setAttribute('aria-busy', 'true')
  for (const one of main.querySelectorAll('button')) one.disabled = true
  try {
    say(await work(event))
  } catch (error) {
    say(sayOf(error), true)
  } finally {
    main.removeAttribute('aria-busy')
    for (const one of main.querySelectorAll('button')) one.disabled = false
  }
}
const on = (id, event, work) => $(id)?.addEventListener(event, doing(work))

/** A path of ours to go to afterwards; the address of anything else is none. */
const returnTo = () => {
  const given = new URLSearchParams(location.search).get('returnTo') ?? ''
  if (!given.startsWith('/') || !URL.canParse(given, location.origin)) return '/'
  const { origin, pathname, search, hash } = new URL(given, location.origin)
  // The path of `/.//host` is `//host`, which as an address is that host.
  return origin === location.origin && !pathname.startsWith('//') ? pathname + search + hash : '/'
}

const session = async () => {
  const found = await auth('GET', '/get-session')
  if (found) localStorage.setItem(flag, '1')
  else localStorage.removeItem(flag)
  return found
}

const signOut = async () => {
  await auth('POST', '/sign-out', {})
  localStorage.removeItem(flag)
  location.assign('/signin')
}

const arrive = () => {
  localStorage.setItem(flag, '1')
  location.assign(returnTo())
}

/** Goes to a provider, and comes back to this page, or to `path`. */
const throughProvider = async (start, name, path) => {
  const { url } = await auth('POST', start, {
    provider: name,
    callbackURL: path,
    errorCallbackURL: location.pathname,
    ...(start === '/sign-in/social' && { requestSignUp: true }),
    disableRedirect: true,
  })
  location.assign(url)
}

const startSignIn = async () => {
  // A link that is opened where this page is open already changes only the fragment, and loads nothing.
  addEventListener('hashchange', () => location.hash !== '' && location.reload())
  const fragment = new URLSearchParams(location.hash.slice(1))
  const [link, reset] = [fragment.get('link'), fragment.get('reset')]
  // A token is in no address that stays.
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)
  const query = new URLSearchParams(location.search)

  on('ask', 'submit', async () => {
    const email = $('ask').elements.email.value.trim()
    await auth('POST', '/email-otp/send-verification-otp', { email, type: 'sign-in' })
    $('code').hidden = false
    $('code').elements.otp.focus()
    return words.codeSent
  })
  on('code', 'submit', async () => {
    const { otp, name } = $('code').elements
    const email = $('ask').elements.email.value.trim()
    const named = name.value.trim() && { name: name.value.trim() }
    await auth('POST', '/sign-in/email-otp', { email, otp: otp.value.trim(), ...named })
    arrive()
  })
  on('password', 'submit', async () => {
    const { email, password } = $('password').elements
    await auth('POST', '/sign-in/email', { email: email.value.trim(), password: password.value })
    arrive()
  })
  on('forgot', 'click', async () => {
    const { email } = $('password').elements
    if (!email.reportValidity()) return
    await auth('POST', '/request-password-reset', { email: email.value.trim() })
    return words.linkSent
  })
  on('reset', 'submit', async () => {
    const { password } = $('reset').elements
    await auth('POST', '/reset-password', { newPassword: password.value, token: reset })
    $('reset').hidden = true
    $('password').hidden = false
    return words.passwordSet
  })
  for (const button of document.querySelectorAll('[data-provider]'))
    button.addEventListener(
      'click',
      doing(() =>
        throughProvider(
          '/sign-in/social',
          button.dataset.provider,
          `/signin?returnTo=${encodeURIComponent(returnTo())}&back=1`,
        ),
      ),
    )
  on('out', 'click', signOut)

  if (link) {
    await auth('POST', '/sign-in/link', { token: link })
    return arrive()
  }
  if (reset) {
    $('ways').hidden = false
    for (const form of main.querySelectorAll('#ask, #code, #password')) form.hidden = true
    $('reset').hidden = false
    return $('reset').elements.password.focus()
  }
  const found = query.has('again') ? null : await session()
  if (found && query.has('back')) return arrive()
  $(found ? 'in' : 'ways').hidden = false
  if (found) {
    $('who').textContent = `${found.user.name} (${found.user.email})`
    $('on').href = returnTo()
  }
  return sayOfAddress()
}

const button = (text, work) => {
  const made = document.createElement('button')
  made.type = 'button'
  made.className = 'plain'
  made.textContent = text
  made.addEventListener('click', doing(work))
  return made
}

const listed = (list, rows) => {
  const items = rows.map(parts => {
    const item = document.createElement('li')
    item.append(...parts.flatMap(part => [part, ' ']))
    return item
  })
  if (items.length === 0)
    items.push(Object.assign(document.createElement('li'), { textContent: words.none }))
  list.replaceChildren(...items)
}

/** A browser and its system as people call them; of another program the beginning of its name. */
const browserOf = agent => {
  const first = (...names) => names.find(one => agent.includes(one))
  const name = first('Firefox', 'Edg', 'OPR', 'Chrome', 'Safari')
  const system = first('Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux')
  const called = { Edg: 'Edge', OPR: 'Opera' }[name] ?? name
  return called ? [called, system].filter(Boolean).join(', ') : agent.slice(0, 40)
}

const startAccount = async () => {
  let found = await session()
  if (!found) return location.assign('/signin?returnTo=/account')
  const { lang } = document.documentElement
  const when = new Intl.DateTimeFormat(
    navigator.languages.find(one => one.startsWith(lang)) ?? lang,
    {
      dateStyle: 'medium',
      timeStyle: 'short',
    },
  )

  const show = async () => {
    const { user } = found
    $('who').textContent = user.name
    if ($('address')) $('address').textContent = user.email
    if ($('rename')) $('rename').elements.name.value = user.name
    const [sessions, accounts] = await Promise.all([
      auth('GET', '/list-sessions'),
      auth('GET', '/list-accounts'),
    ])
    listed(
      $('sessions'),
      sessions.map(one => [
        when.format(new Date(one.createdAt)),
        browserOf(one.userAgent ?? ''),
        one.id === found.session.id
          ? `(${words.thisOne})`
          : button(words.end, async () => {
              await auth('POST', '/revoke-session', { token: one.token })
              await show()
            }),
      ]),
    )
    if (!$('identities')) return
    const identities = accounts.filter(one => one.providerId !== 'credential')
    listed(
      $('identities'),
      identities.map(one => [
        providers.find(({ name }) => name === one.providerId)?.label ?? one.providerId,
        button(words.unlink, async () => {
          await auth('POST', '/unlink-account', { accountId: one.id })
          await show()
        }),
      ]),
    )
  }
  const again = async () => {
    found = await session()
    await show()
    return words.saved
  }
  on('rename', 'submit', async () => {
    const { token } = await auth('GET', '/token')
    const name = $('rename').elements.name.value.trim()
    await ask(
      'PATCH',
      `${row.path}/${found.user.id}`,
      { [row.name]: name },
      { Authorization: `Bearer ${token}` },
    )
    return again()
  })
  on('move', 'submit', async () => {
    await auth('POST', '/email-otp/request-email-change', {
      newEmail: $('move').elements.newEmail.value.trim(),
    })
    $('moved').hidden = false
    $('moved').elements.otp.focus()
    return words.codeSent
  })
  on('moved', 'submit', async () => {
    const newEmail = $('move').elements.newEmail.value.trim()
    await auth('POST', '/email-otp/change-email', {
      newEmail,
      otp: $('moved').elements.otp.value.trim(),
    })
    $('moved').hidden = true
    return again()
  })
  for (const one of document.querySelectorAll('[data-provider]'))
    one.addEventListener(
      'click',
      doing(() => throughProvider('/link-social', one.dataset.provider, '/account')),
    )
  on('out', 'click', signOut)
  on('everywhere', 'click', async () => {
    await auth('POST', '/revoke-sessions', {})
    localStorage.removeItem(flag)
    location.assign('/signin')
  })
  $('account').hidden = false
  await show()
  return sayOfAddress()
}

const failed = error => {
  if ($('ways')) $('ways').hidden = false
  throw error
}
doing(() => ($('account') ? startAccount() : startSignIn()).catch(failed))()
