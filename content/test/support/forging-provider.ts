/** An identity provider that lies: it answers a code with whatever token the test forges, signed with whatever key. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

type Json = Readonly<Record<string, unknown>>

const part = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (head: Json, claims: Json, seal: (input: string) => Buffer) => {
  const input = `${part(head)}.${part(claims)}`
  return `${input}.${seal(input).toString('base64url')}`
}

/** A pair of keys of nobody's. */
export const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** A token that is signed with a key, ES256. */
export const signedWith = (key: KeyObject, claims: Json, head: Json = {}): string =>
  jwt({ alg: 'ES256', kid: 'own', ...head }, claims, input =>
    sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }),
  )

/** A token without a signature. */
export const unsigned = (claims: Json): string =>
  jwt({ alg: 'none', kid: 'own' }, claims, () => Buffer.alloc(0))

/** A token whose signature is an HMAC, for a verifier that lets the token choose. */
export const sealedWith = (secret: string, claims: Json): string =>
  jwt({ alg: 'HS256', kid: 'own' }, claims, input =>
    createHmac('sha256', secret).update(input).digest(),
  )

/** What a provider answers for a code, given the claims of an honest token. */
export type Forge = (claims: Json) => string | undefined

/** Starts a provider of this name; `forge` says what it answers from then on. */
export const forgingProvider = async (name: string) => {
  const { publicKey, privateKey } = newKey()
  let idToken: string | undefined
  let asked = 0
  let person: Json = {}
  const server = createServer((request, response) => {
    const origin = `http://${request.headers.host}`
    const answers: Readonly<Record<string, Json>> = {
      '/.well-known/openid-configuration': {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        userinfo_endpoint: `${origin}/userinfo`,
        jwks_uri: `${origin}/jwks`,
        id_token_signing_alg_values_supported: ['ES256'],
      },
      '/jwks': { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'own', alg: 'ES256' }] },
      '/token': { access_token: 'access', token_type: 'Bearer', id_token: idToken },
      '/userinfo': person,
    }
    if (request.url === '/token') asked++
    const answer = answers[request.url ?? '']
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    request.resume().on('end', () => response.end(JSON.stringify(answer ?? {})))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const clientId = `client-of-${name}`
  const clientSecret = `secret-of-${name}-which-is-long-enough`
  return {
    settings: {
      ...{ name, issuer, clientId, clientSecret, label: name },
      scopes: ['openid', 'email', 'profile'],
    },
    key: privateKey,
    publicKey,
    /** How many codes it was asked to take. */
    asked: () => asked,
    /** Decides what is answered to the next code, of a sign-in that was started at `url`. */
    answer: (url: string, sub: string, forge: Forge) => {
      const now = Math.floor(Date.now() / 1000)
      person = { sub, email: `${sub}@forged.example`, email_verified: true, name: sub }
      const nonce = new URL(url).searchParams.get('nonce')
      idToken = forge({ iss: issuer, aud: clientId, iat: now, exp: now + 300, nonce, ...person })
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
