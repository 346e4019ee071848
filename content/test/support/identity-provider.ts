/** A real identity provider in the process, where whoever is named signs in; and the way of a browser through it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { home } from './visitor.ts'

// What it says about production and its own runtime is not about a provider that lives for one test.
for (const kind of ['info', 'warn'] as const) {
  const print = console[kind]
  console[kind] = (...texts) =>
    String(texts[0]).includes('oidc-provider ') ? undefined : print(...texts)
}
const { default: Provider } = await import('oidc-provider')

/** Who signs in there, and whether the provider vouches for the address. */
export type Identity = { readonly sub: string; readonly email: string; readonly verified: boolean }

/** Starts a provider that knows this service as a client. */
export const identityProvider = async () => {
  let who: Identity = { sub: 'nobody', email: 'nobody@example.org', verified: false }
  const known = new Map<string, Identity>()
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const issuer = `http://127.0.0.1:${port}`
  const client = { client_id: 'duet', client_secret: 'duet-secret-duet-secret-duet-secret' }
  const provider = new Provider(issuer, {
    clients: [{ ...client, redirect_uris: [`${home}/auth/callback/test`] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    cookies: { keys: ['x'] },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => {
      const { email, verified } = known.get(sub) ?? who
      return { accountId: sub, claims: () => ({ sub, email, email_verified: verified, name: sub }) }
    },
  })
  const answer = provider.callback()
  server.on('request', async (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return answer(request, response)
    known.set(who.sub, who)
    const grant = new provider.Grant({ accountId: who.sub, clientId: client.client_id })
    grant.addOIDCScope('openid email profile')
    const login = { login: { accountId: who.sub }, consent: { grantId: await grant.save() } }
    await provider.interactionFinished(request, response, login, { mergeWithLastSubmission: false })
  })
  return {
    settings: {
      name: 'test',
      issuer,
      clientId: client.client_id,
      clientSecret: client.client_secret,
      label: 'Test',
      scopes: ['openid', 'email', 'profile'],
    },
    /** Whoever signs in from now on. */
    as: (identity: Identity) => {
      who = identity
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Follows a provider's redirects as a browser of its own does, to the address of the callback. */
export const throughProvider = async (from: string): Promise<URL> => {
  const jar = new Map<string, string>()
  let at = from
  for (let hop = 0; hop < 10; hop++) {
    if (at.includes('/auth/callback/')) return new URL(at)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      jar.set(name, value)
    }
    const to = response.headers.get('location')
    assert.ok(to, `${at}: ${response.status} ${await response.clone().text()}`)
    at = new URL(to, at).href
  }
  throw new Error(`too many redirects from ${from}`)
}
