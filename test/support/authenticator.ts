/** Authenticators whose clock moves only when it is set, with their keys: a secret, a file, a server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { type AuthConfig, createAuthenticator } from '#auth/authenticate.ts'
import { type Alg, type Issuer, issuer, secret, start, viewers } from './tokens.ts'

/** The viewer of a good token. */
export const user = { id: 7, role: 'user' }

/** The texts of refusals. */
export const unknownKey = 'The token is signed by an unknown key'
export const badSignature =
  'The signature does not fit: the token was made with another key, or changed since'
export const badAlg = 'The token is signed in a way that is not accepted here'

/** An issuer for each algorithm. */
export const algs = ['EdDSA', 'ES256', 'RS256'] as const
export const issuers = Object.fromEntries(algs.map(alg => [alg, issuer(alg, alg)])) as Record<
  Alg,
  Issuer
>
export const [ed, ec, rsa] = [issuers.EdDSA, issuers.ES256, issuers.RS256]

/** A folder for files of key sets, for as long as the tests of a file run. */
export const keyFiles = () => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-keys-'))
  after(() => rmSync(folder, { recursive: true }))
  let files = 0
  const fileOf = (text: string): string => {
    const path = join(folder, `${++files}.json`)
    writeFileSync(path, text)
    return path
  }
  const withFile = (text: string) => {
    const path = fileOf(text)
    return { path, ...worldOf({ jwksFile: path }) }
  }
  return { folder, fileOf, withFile }
}

/** An authenticator whose clock moves only when it is set; with the secret unless another source of keys is given. */
export const worldOf = (config: AuthConfig = { secret }, clock = { seconds: start }) => {
  const authenticate = createAuthenticator(config, viewers, () => clock.seconds * 1000)
  const send = async (authorization: string) => authenticate(authorization)
  const ask = (token: string) => send(`Bearer ${token}`)
  const atOnce = (token: string) => {
    const answer = authenticate(`Bearer ${token}`)
    if (!(answer instanceof Promise)) return true
    answer.catch(() => {})
    return false
  }
  return { clock, authenticate, send, ask, atOnce }
}
