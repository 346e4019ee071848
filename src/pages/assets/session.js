// Shows who is signed in, with a way out, and gives other scripts of a page the token of the session that is there. Whoever never signed in
// here asks for nothing.

// Its names are not those of the scripts after it.
{
  const flag = 'duet.signedIn'
  const auth = (path, sent) => fetch(`/auth${path}`, sent)

  let kept
  let asking

  /** A token of the session, one for many askers, renewed before it ends; undefined if nobody is signed in. */
  const renewed = async () => {
    const response = await auth('/token')
    if (response.status === 401) localStorage.removeItem(flag)
    if (!response.ok) return undefined
    const { token } = await response.json()
    const [, claims] = token.split('.')
    const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')))
    kept = { token, until: (exp - 30) * 1000 }
    return token
  }
  // A token that was refused is of a session that ended.
  addEventListener('signed-out', () => {
    kept = undefined
  })
  window.duetToken = async () => {
    if (localStorage.getItem(flag) === null) return undefined
    if (kept && Date.now() < kept.until) return kept.token
    asking ??= renewed().finally(() => {
      asking = undefined
    })
    return asking
  }

  const link = (href, text) =>
    Object.assign(document.createElement('a'), { href, textContent: text })

  const showWho = async place => {
    const here = location.pathname + location.search
    const signIn = link(`/signin?returnTo=${encodeURIComponent(here)}`, 'Sign in')
    const isIn = localStorage.getItem(flag) !== null
    const found = isIn ? await auth('/get-session').then(response => response.json()) : null
    if (!found?.user) {
      localStorage.removeItem(flag)
      return place.replaceChildren(signIn)
    }
    const out = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: 'Sign out',
    })
    out.addEventListener('click', async () => {
      await auth('/sign-out', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{}',
      })
      localStorage.removeItem(flag)
      location.reload()
    })
    place.replaceChildren(link('/account', found.user.name), ' ', out)
  }

  const place = document.getElementById('session')
  if (place) showWho(place).catch(() => place.replaceChildren())
}
