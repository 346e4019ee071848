/** Tokens as identity providers make them, with their key sets: whom they name, which role they give, and tokens that must do neither. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { keyFiles } from '../../test/support/authenticator.ts'
import { roles } from '../../test/support/kitchen/index.ts'
import {
  type Alg,
  type Issuer,
  isRefused,
  issuer,
  type Json,
  setOf,
  start,
} from '../../test/support/tokens.ts'
import { createAuthenticator } from './authenticate.ts'
import { mint, type TokenViewers } from './token.ts'

const { fileOf } = keyFiles()

/** The shape of a provider's access tokens, with the settings of a content and an operator for them. */
type Provider = {
  readonly alg: 'RS256' | 'ES256'
  readonly header?: Json
  /** The member of the key set, if it lacks something or has more. */
  readonly jwk?: Json
  readonly issuer: string
  readonly audience: string
  readonly claims: Json
  readonly viewers: Omit<TokenViewers, 'entity' | 'by' | 'roles'>
  readonly role: string
  readonly values: Json
}

const life = { iat: start, exp: start + 3600 }

const providers: Readonly<Record<string, Provider>> = {
  Auth0: {
    alg: 'RS256',
    header: { typ: 'JWT' },
    jwk: { x5t: 'Zm9v', x5c: ['MIID'] },
    issuer: 'https://kitchen.eu.auth0.com/',
    audience: 'https://api.kitchen.example',
    claims: {
      iss: 'https://kitchen.eu.auth0.com/',
      sub: 'auth0|6553da60a54af58e29493993',
      aud: ['https://api.kitchen.example', 'https://kitchen.eu.auth0.com/userinfo'],
      iat: start,
      exp: start + 86_400,
      azp: 'K1AUPhZq8mRi0Q0pjhkfu1D7y6KjDQja',
      scope: 'openid profile email',
      'https://kitchen.example/name': 'Ada',
      'https://kitchen.example/roles': ['tasters'],
    },
    viewers: {
      signUp: { name: 'https://kitchen.example/name' },
      roleFrom: { claim: 'https://kitchen.example/roles', map: { tasters: 'taster' } },
    },
    role: 'taster',
    values: { name: 'Ada' },
  },
  Keycloak: {
    alg: 'RS256',
    header: { typ: 'JWT' },
    issuer: 'https://login.kitchen.example/realms/kitchen',
    audience: 'kitchen-api',
    claims: {
      ...life,
      jti: 'onrtac:0e3a',
      iss: 'https://login.kitchen.example/realms/kitchen',
      aud: ['kitchen-api', 'account'],
      sub: '36fa0f91-f94d-4a0c-afed-6b7d952e47da',
      typ: 'Bearer',
      azp: 'kitchen-web',
      sid: '2a88c258-f73a-4103-b862-e1fbd8f4e04e',
      acr: '1',
      'allowed-origins': ['https://kitchen.example'],
      realm_access: {
        roles: ['offline_access', 'cooks', 'head-chef', 'default-roles-kitchen'],
      },
      resource_access: { account: { roles: ['manage-account', 'view-profile'] } },
      scope: 'openid email profile',
      email_verified: true,
      name: 'Ada',
      preferred_username: 'ada',
      email: 'ada@example.org',
    },
    viewers: {
      signUp: { name: 'name', email: 'email' },
      roleFrom: { claim: ['realm_access', 'roles'], map: { cooks: 'cook', 'head-chef': 'chef' } },
    },
    role: 'chef',
    values: { name: 'Ada', email: 'ada@example.org' },
  },
  Supabase: {
    alg: 'ES256',
    header: { typ: 'JWT' },
    jwk: { key_ops: ['verify'], ext: true },
    issuer: 'https://abcdefghijkl.supabase.co/auth/v1',
    audience: 'authenticated',
    claims: {
      ...life,
      iss: 'https://abcdefghijkl.supabase.co/auth/v1',
      sub: '123e4567-e89b-12d3-a456-426614174000',
      aud: 'authenticated',
      email: 'ada@example.org',
      phone: '',
      app_metadata: { provider: 'email', providers: ['email'], role: 'taster' },
      user_metadata: { full_name: 'Ada', role: 'chef', email_verified: true },
      role: 'authenticated',
      aal: 'aal1',
      amr: [{ method: 'password', timestamp: start }],
      session_id: '8c5b1d2e-0d3c-4f7a-9f68-0c8c7f3f1a11',
      is_anonymous: false,
    },
    viewers: {
      signUp: { name: ['user_metadata', 'full_name'], email: 'email' },
      roleFrom: { claim: ['app_metadata', 'role'], otherwise: 'cook' },
    },
    role: 'taster',
    values: { name: 'Ada', email: 'ada@example.org' },
  },
  Cognito: {
    alg: 'RS256',
    issuer: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_ABC123',
    audience: '7lhlkkfbfb4q5kpp90urffao',
    claims: {
      ...life,
      sub: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      'cognito:groups': ['cooks'],
      iss: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_ABC123',
      version: 2,
      client_id: '7lhlkkfbfb4q5kpp90urffao',
      origin_jti: 'aaaaaaaa-1111',
      event_id: 'bbbbbbbb-2222',
      token_use: 'access',
      scope: 'aws.cognito.signin.user.admin',
      auth_time: start,
      jti: 'cccccccc-3333',
      username: 'ada',
    },
    viewers: {
      signUp: { name: 'username' },
      roleFrom: { claim: 'cognito:groups', map: { cooks: 'cook' } },
      audienceClaim: 'client_id',
    },
    role: 'cook',
    values: { name: 'ada' },
  },
  Entra: {
    alg: 'RS256',
    header: { typ: 'JWT' },
    // Its keys name no algorithm.
    jwk: {
      alg: undefined,
      x5t: 'Zm9v',
      x5c: ['MIIC'],
      issuer: 'https://login.microsoftonline.com',
    },
    issuer: 'https://login.microsoftonline.com/6c4e8a10-0000-4000-8000-000000000001/v2.0',
    audience: '11111111-2222-3333-4444-555555555555',
    claims: {
      ...life,
      aud: '11111111-2222-3333-4444-555555555555',
      iss: 'https://login.microsoftonline.com/6c4e8a10-0000-4000-8000-000000000001/v2.0',
      nbf: start,
      aio: 'AXQAi',
      azp: '66666666-7777-8888-9999-000000000000',
      azpacr: '0',
      name: 'Ada',
      oid: 'bbbbbbbb-0000-1111-2222-cccccccccccc',
      preferred_username: 'ada@kitchen.example',
      rh: '0.AXXX',
      roles: ['Kitchen.Chef'],
      scp: 'access_as_user',
      sub: 'HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ',
      tid: '6c4e8a10-0000-4000-8000-000000000001',
      uti: 'abc',
      ver: '2.0',
    },
    viewers: {
      signUp: { name: 'name', email: 'preferred_username' },
      roleFrom: { claim: 'roles', map: { 'Kitchen.Chef': 'chef' }, otherwise: 'cook' },
    },
    role: 'chef',
    values: { name: 'Ada', email: 'ada@kitchen.example' },
  },
}

const keys = new Map<string, Issuer>()
/** A key of that holder, made once: one of RSA takes long. */
const keyOf = (alg: Alg, kid: string, holder = 'the provider') =>
  keys.getOrInsertComputed(`${alg} ${kid} ${holder}`, () => issuer(alg, kid))

/** Whom a token is taken for, by the provider's keys; `changed` claims are others than those of its shape. */
const asks = (provider: Provider, viewers: Partial<TokenViewers> = {}) => {
  const { alg, header, issuer: iss, audience } = provider
  const kid = 'kitchen-1'
  const by = keyOf(alg, kid)
  // A set has keys for other purposes too, as Keycloak's.
  const other = keyOf('RS256', 'for encryption')
  const jwksFile = fileOf(
    setOf(
      { jwk: { ...other.jwk, alg: 'RSA-OAEP', use: 'enc' } },
      { jwk: { ...by.jwk, ...provider.jwk } },
    ),
  )
  const of = { entity: 'cook', by: 'subject', roles, ...provider.viewers, ...viewers }
  const config = { jwksFile, issuer: iss, audience }
  const authenticate = createAuthenticator(config, of, () => start * 1000)
  return async (changed: Json = {}, signer = by) =>
    authenticate(`Bearer ${signer.token({ ...provider.claims, ...changed }, header ?? {})}`)
}

for (const [name, provider] of Object.entries(providers))
  describe(`a token of ${name}`, () => {
    const ask = asks(provider)

    test('speaks for its subject, with the role and the values of its claims', async () => {
      const subject = String(provider.claims.sub)
      assert.deepEqual(await ask(), {
        id: null,
        role: provider.role,
        service: hash('sha256', subject, 'base64url'),
        subject,
        claims: provider.values,
      })
    })

    test('is never an id, however much its subject looks like one', async () => {
      const { id, subject } = await ask({ sub: '1' })
      assert.deepEqual([id, subject], [null, '1'])
    })

    test('of another tenant is refused, and so is one for another service [E17]', async () => {
      const otherTenant = `${provider.issuer.replace(/[a-z0-9](?=[^a-z0-9]*$)/i, 'x')}`
      await assert.rejects(ask({ iss: otherTenant }), isRefused('The token is from another issuer'))
      await assert.rejects(
        ask({ [provider.viewers.audienceClaim ?? 'aud']: 'another-service' }),
        isRefused('The token is for another audience'),
      )
      await assert.rejects(
        ask({}, keyOf(provider.alg, 'kitchen-1', 'a stranger')),
        isRefused(
          'The signature does not fit: the token was made with another key, or changed since',
        ),
      )
    })

    test('whose subject no store takes is refused', async () => {
      for (const sub of ['', 'a\0b', '\ud800', 7, null, ['1'], { sub: '1' }])
        await assert.rejects(ask({ sub }), { code: 'UNAUTHENTICATED' })
    })
  })

describe('the role of a token', () => {
  const keycloak = providers.Keycloak as Provider
  const none = isRefused('The token has no role that is known here')
  const ask = asks(keycloak)
  const withRoles = (given: unknown) => ask({ realm_access: { roles: given } })

  test('is the first of the list of the content, in whatever order the token has them', async () => {
    for (const given of [
      ['cooks', 'head-chef'],
      ['head-chef', 'cooks'],
    ])
      assert.equal((await withRoles(given)).role, 'chef')
    assert.equal((await withRoles('cooks')).role, 'cook')
  })

  test('is refused where there is none that is known, and the content has no other', async () => {
    for (const given of [[], 'chef', ['chef'], ['__proto__'], [['cooks']], { cooks: 1 }, 1, null])
      await assert.rejects(withRoles(given), none)
    await assert.rejects(ask({ realm_access: ['cooks'] }), none)
    await assert.rejects(ask({ realm_access: undefined }), none)
    // The claim that other contents read their roles from says nothing here.
    await assert.rejects(ask({ realm_access: undefined, role: 'chef' }), none)
  })

  test('is what the content says otherwise', async () => {
    const claim = ['realm_access', 'roles']
    const roleFrom = { ...keycloak.viewers.roleFrom, claim, otherwise: 'cook' }
    const other = asks(keycloak, { roleFrom })
    assert.equal((await other({ realm_access: { roles: ['offline_access'] } })).role, 'cook')
    assert.equal((await other({ realm_access: undefined })).role, 'cook')
  })

  test('in user_metadata, which its user may edit, gives nothing [E17]', async () => {
    const supabase = asks(providers.Supabase as Provider)
    const { role } = await supabase({
      app_metadata: { provider: 'email' },
      user_metadata: { role: 'chef', app_metadata: { role: 'chef' } },
    })
    assert.equal(role, 'cook')
  })
})

test('an ID token of Cognito is no access token', async () => {
  const ask = asks(providers.Cognito as Provider)
  const audience = '7lhlkkfbfb4q5kpp90urffao'
  await assert.rejects(
    ask({ client_id: undefined, aud: audience, token_use: 'id' }),
    isRefused('The token is for another audience'),
  )
})

test('a token that is made by hand has its role and its audience where the content reads them', async () => {
  const secret = 'kX9vQ2mT7pLwZ4rB8nYc5hJd1sGf6aEu3oNi0tRq'
  const { viewers } = providers.Cognito as Provider
  const of: TokenViewers = { entity: 'cook', by: 'subject', roles, ...viewers }
  const config = { secret, issuer: 'https://here', audience: 'kitchen' }
  const asked = { sub: 'idp|1', role: 'cook', ttl: 60, ...config, claims: { username: 'Ada' } }
  const token = await mint({ ...asked, viewers: of }, secret, start * 1000)
  const ask = createAuthenticator(config, of, () => start * 1000)
  const { subject, role, claims } = await ask(`Bearer ${token}`)
  assert.deepEqual([subject, role, claims], ['idp|1', 'cook', { name: 'Ada' }])
  await assert.rejects(
    mint({ ...asked, role: 'chef', viewers: of }, secret, 0),
    /no token has the role chef: the map of the content's roles has no word for it/,
  )
  // A role that needs no word has none in its token.
  const otherwise = { ...of, ...(providers.Entra as Provider).viewers }
  const plain = await mint({ ...asked, viewers: otherwise }, secret, start * 1000)
  const asCook = createAuthenticator(config, otherwise, () => start * 1000)
  assert.equal((await asCook(`Bearer ${plain}`)).role, 'cook')
})

test('where there are no users every subject is a program, also one that looks like an id', async () => {
  const secret = 'kX9vQ2mT7pLwZ4rB8nYc5hJd1sGf6aEu3oNi0tRq'
  const of = { roles }
  const token = await mint({ sub: '7', role: 'cook', ttl: 60, viewers: of }, secret, start * 1000)
  const ask = createAuthenticator({ secret }, of, () => start * 1000)
  const service = hash('sha256', '7', 'base64url')
  assert.deepEqual(await ask(`Bearer ${token}`), { id: null, role: 'cook', service })
})
