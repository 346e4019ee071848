/** The admin: sign-in, the model of the content, and its screens. */
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClient } from '@tanstack/react-query'
import {
  CoreAdminContext,
  CoreAdminUI,
  type HttpError,
  localStorageStore,
  Resource,
  useLocation,
  useNavigate,
  useNotify,
  useResetErrorBoundaryOnLocationChange,
} from 'ra-core'
import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { call, hasSignIn, newKey, setToken, signInPlace, signOut, tokenNow } from './api.ts'
import { ModelContext, useModel } from './context.ts'
import { Dashboard } from './dashboard.tsx'
import { createDataProvider } from './data-provider.ts'
import { Create, Edit } from './form.tsx'
import { List } from './list.tsx'
import type { Model } from './model.ts'
import { RowLink } from './show.tsx'
import { Alert, Button, Heading, IconButton, Messages } from './ui.tsx'
import { language, t } from './words.ts'

const themeNames: Record<string, string> = {
  system: t('as the system'),
  light: t('light'),
  dark: t('dark'),
}
const themes = Object.keys(themeNames)
const applyTheme = (theme: string) => {
  document.documentElement.style.colorScheme = theme === 'system' ? 'light dark' : theme
}
document.documentElement.lang = language
applyTheme(localStorage.getItem('duet.theme') ?? 'system')

const tokenInput = (
  <div className="stack">
    <label>
      {t('Token')}
      <input
        name="token"
        className="input code"
        required
        autoComplete="off"
        spellCheck={false}
        ref={hasSignIn() ? null : input => input?.focus()}
        aria-describedby="token-help"
      />
    </label>
    <p id="token-help" className="help">
      {t('From duet token or your identity provider. This tab alone keeps it.')}
    </p>
    <Button type="submit" tone={hasSignIn() ? undefined : 'main'}>
      {hasSignIn() ? t('Use the token') : t('Sign in')}
    </Button>
  </div>
)

/** Takes the token that was given in a form. */
const takeToken = (onDone: () => void) => (event: FormEvent<HTMLFormElement>) => {
  event.preventDefault()
  setToken(String(new FormData(event.currentTarget).get('token')).replace(/\s/g, ''))
  onDone()
}

const SignIn = ({ onDone, fault }: { onDone: () => void; fault: string | undefined }) => (
  <main className="sign-in">
    <form className="card stack" onSubmit={takeToken(onDone)}>
      <h1>{document.title}</h1>
      <Alert text={fault} />
      {hasSignIn() ? (
        <>
          <a className="button main" href={signInPlace()}>
            {t('Sign in')}
          </a>
          <details>
            <summary>{t('With a token')}</summary>
            {tokenInput}
          </details>
        </>
      ) : (
        tokenInput
      )}
    </form>
  </main>
)

/** Says above everything that the session ended, and leaves what was typed where it is. */
const SignedOut = () => {
  const [isOut, setOut] = useState(false)
  useEffect(() => {
    const end = () => setOut(true)
    const look = async () => {
      if (await tokenNow()) setOut(false)
    }
    addEventListener('signed-out', end)
    addEventListener('focus', look)
    return () => {
      removeEventListener('signed-out', end)
      removeEventListener('focus', look)
    }
  }, [])
  if (!isOut) return null
  return (
    <div className="signed-out card" role="alert">
      <p>
        {t('You are signed out. What you typed is still here:')}{' '}
        {hasSignIn() ? (
          <a href="/signin?returnTo=/account" target="_blank" rel="noopener">
            {t('sign in in another tab')}
          </a>
        ) : (
          t('paste a new token below')
        )}
        {t(', then save again.')}
      </p>
      {!hasSignIn() && (
        <form onSubmit={takeToken(() => setOut(false))}>
          <input className="input code" name="token" aria-label="Token" required />
          <Button type="submit">{t('Use the token')}</Button>
        </form>
      )}
    </div>
  )
}

/** Puts the focus on a screen that opens, at once where it is to be typed; and on what is next to it where what had it is gone. */
const useFocus = (pathname: string) => {
  const shown = useRef(pathname)
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    const asked = pathname.endsWith('/create') && '.record :is(input, textarea, select)'
    const first = asked && document.querySelector<HTMLElement>(asked)
    ;(first || document.getElementById('main'))?.focus()
  }, [pathname])
  useEffect(() => {
    let around: HTMLElement[] = []
    const remember = ({ target }: FocusEvent) => {
      if (!(target as HTMLElement).closest('.layout')) return
      around = []
      for (let at = target as HTMLElement | null; at; at = at.parentElement) around.push(at)
    }
    // Who clicks beside everything stays there. What is taken away, and another window, are no such click.
    const forget = ({ target, relatedTarget }: FocusEvent) =>
      queueMicrotask(() => {
        const isNowhere = !relatedTarget && document.activeElement === document.body
        if (isNowhere && (target as HTMLElement).isConnected) around = []
      })
    const observer = new MutationObserver(() => {
      if (document.activeElement !== document.body || (around[0]?.isConnected ?? true)) return
      const near = around.find(({ isConnected }) => isConnected)
      const next = near?.closest('.layout main *')?.querySelector<HTMLElement>(reached)
      ;(next ?? document.getElementById('main'))?.focus({ preventScroll: true })
    })
    observer.observe(document.body, { childList: true, subtree: true })
    document.addEventListener('focusin', remember)
    document.addEventListener('focusout', forget)
    return () => {
      observer.disconnect()
      document.removeEventListener('focusin', remember)
      document.removeEventListener('focusout', forget)
    }
  }, [])
}

/** The mark of a place that this page, and not the one loaded after it, goes to in order to sign out. */
const leaving = newKey()

/** The number that the router gave to the place that is shown. */
let shownAt = 0
// A place that a link or an address typed here leads to has none, and without one the router would not ask before a changed form is left.
addEventListener('popstate', () => {
  if (history.state === null) history.replaceState({ idx: shownAt + 1 }, '')
})

/** What a key reaches. */
const reached = 'button, input, select, textarea, a[href]'

const Layout = ({ children }: { children?: ReactNode }) => {
  const { title, entities, viewer } = useModel()
  const location = useLocation()
  const { pathname, state } = location
  const [open, setOpen] = useState(false)
  const [theme, setTheme] = useState(localStorage.getItem('duet.theme') ?? 'system')
  useEffect(() => setOpen(false), [pathname])
  const themeLabel = t('Theme: {theme}', { theme: themeNames[theme] ?? theme })
  useFocus(pathname)
  const navigate = useNavigate()
  const notify = useNotify()
  useEffect(() => {
    shownAt = history.state?.idx ?? 0
    if (state !== leaving) return
    signOut().catch(() => {
      notify(t('The service cannot be reached.'), { type: 'error' })
      navigate('/', { replace: true })
    })
  }, [location])
  // By way of the start, so that a changed form asks first.
  const leave = () => navigate('/', { state: leaving })
  const here = pathname.split('/')[1] ?? ''
  const groups = Map.groupBy(
    entities.filter(({ may, hidden }) => may.list !== 'no' && !hidden),
    ({ group = '' }) => group,
  )
  return (
    <div className="layout">
      <a
        className="skip"
        href="#main"
        onClick={event => {
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        {t('To the content')}
      </a>
      <header className="bar">
        <IconButton
          icon="menu"
          label={t('Menu')}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        />
        <a href="#/">{title}</a>
      </header>
      <nav className={`nav ${open ? 'open' : ''}`} aria-label={t('Sections')}>
        <a className="home" href="#/" aria-current={here === '' ? 'page' : undefined}>
          {title}
        </a>
        <div className="groups">
          {[...groups].map(([group, members]) => (
            <section key={group}>
              {group && <h2>{group}</h2>}
              <ul>
                {members.map(({ name, labels }) => (
                  <li key={name}>
                    <a
                      // All of them: what was filtered is in the history, and behind "Back to the list".
                      href={`#/${name}?filter={}`}
                      aria-current={here === name ? 'page' : undefined}
                    >
                      {labels}
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
        <footer>
          <span className="muted">
            {viewer.id !== null && <RowLink bare to={viewer.entity} id={viewer.id} />} {viewer.role}
            {hasSignIn() && <a href="/account">{t('Your account')}</a>}
          </span>
          <IconButton
            icon="sun"
            label={themeLabel}
            onClick={() => {
              const next = themes[(themes.indexOf(theme) + 1) % 3] ?? 'system'
              localStorage.setItem('duet.theme', next)
              applyTheme(next)
              setTheme(next)
            }}
          />
          <IconButton icon="out" label={t('Sign out')} onClick={leave} />
        </footer>
      </nav>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <SignedOut />
      <Messages />
    </div>
  )
}

/** What somebody sees to whom nothing is open. */
const Nothing = () => (
  <Layout>
    <Dashboard />
  </Layout>
)

const NotFound = () => (
  <div className="empty">
    <Heading
      text={
        useLocation().pathname.endsWith('/create')
          ? t('You may not make new ones here.')
          : t('There is no such page, or it is not open to you.')
      }
    />
    <a href="#/">{t('To the start')}</a>
  </div>
)

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // A browser without a network says so, as a service that is away does, in place of waiting for ever.
      networkMode: 'always',
      refetchOnReconnect: true,
      retry: (count, error) => {
        const { status = 0 } = error as HttpError
        return count < 2 && (status === 0 || status >= 500)
      },
      staleTime: 5000,
    },
  },
})

/** What takes the place of a screen that failed, as one does whose address was made by hand. */
const Failed = ({ resetErrorBoundary }: { resetErrorBoundary: () => void }) => {
  useResetErrorBoundaryOnLocationChange(resetErrorBoundary)
  return (
    <main>
      <div className="empty" role="alert">
        <Heading text={t('It cannot be shown')} />
        <p>{t('Its address may be wrong; if not, tell who runs this service.')}</p>
        <a href="#/">{t('To the start')}</a>
      </div>
    </main>
  )
}

const Admin = ({ model }: { model: Model }) => {
  const provider = useMemo(() => createDataProvider(model), [model])
  return (
    <ModelContext.Provider value={model}>
      <CSPProvider disableStyleElements>
        <CoreAdminContext
          dataProvider={provider}
          queryClient={client}
          store={localStorageStore('1', `duet.${model.api}`)}
        >
          <CoreAdminUI
            layout={Layout as never}
            dashboard={Dashboard}
            error={Failed as never}
            ready={Nothing}
            catchAll={NotFound}
            requireAuth={false}
            disableTelemetry
            title={model.title}
          >
            {model.entities.map(({ name, may }) => (
              <Resource
                key={name}
                name={name}
                list={may.list === 'no' ? NotFound : <List key={name} name={name} />}
                {...(may.one && { edit: <Edit name={name} /> })}
                create={may.create === 'no' ? <NotFound /> : <Create name={name} />}
              />
            ))}
          </CoreAdminUI>
        </CoreAdminContext>
      </CSPProvider>
    </ModelContext.Provider>
  )
}

const Gate = () => {
  const [model, setModel] = useState<Model>()
  const [fault, setFault] = useState<string>()
  const [isWaiting, setWaiting] = useState(true)
  const load = async () => {
    try {
      if (!(await tokenNow())) return
      setModel((await call<Model>('/admin/model.json')).data)
      setFault(undefined)
    } catch (error) {
      const { message, status } = error as HttpError
      if (status !== 401) return setFault(message)
      setToken('')
      setFault(t('This token is refused: take a new one. The service says: {message}', { message }))
    } finally {
      setWaiting(false)
    }
  }
  useEffect(() => void load(), [])
  if (model) return <Admin model={model} />
  return isWaiting ? (
    <div className="loading" role="status">
      {t('Loading…')}
    </div>
  ) : (
    <SignIn onDone={load} fault={fault} />
  )
}

createRoot(document.getElementById('admin') as HTMLElement).render(<Gate />)
