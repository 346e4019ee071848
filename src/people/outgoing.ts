/** What the thread of people asks of identity providers: bounded in time and size, without redirects, and only of an issuer that is who it says, at safe addresses. */
import { boundedBody } from '#auth/key-set.ts'
import { isObject } from '#base/object.ts'
import { isSafe } from '#base/paths.ts'

/** How long a provider may take, in milliseconds, and how much it may say, in bytes. */
const longest = 5000
const most = 262_144

/** What a discovery document names that is asked, or that a browser is sent to. */
const endpoints = ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri']

/** Where an issuer has its discovery document. */
export const discoveryOf = (issuer: string): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

/** A `fetch` with these bounds; the discovery document of an issuer must name that issuer (OpenID Connect Discovery, section 4.3). */
export const boundedFetch =
  (issuers: readonly string[], request: typeof fetch = globalThis.fetch): typeof fetch =>
  async (input, init) => {
    const time = AbortSignal.timeout(longest)
    const signal = init?.signal ? AbortSignal.any([init.signal, time]) : time
    // A redirect could lead to an address that the operator never named.
    const response = await request(input, { ...init, signal, redirect: 'error' })
    const body = await boundedBody(response, most)
    const url = input instanceof Request ? input.url : String(input)
    const issuer = issuers.find(one => url === discoveryOf(one))
    if (issuer !== undefined && response.ok) {
      const document: unknown = JSON.parse(body.toString())
      if (!isObject(document) || discoveryOf(String(document.issuer)) !== url)
        throw new Error(`the discovery document of ${issuer} names another issuer`)
      // The library keeps it, and sends browsers there, codes and the secret of the client.
      const unsafe = endpoints.find(one => one in document && !isSafe(String(document[one])))
      if (unsafe) throw new Error(`the discovery document of ${issuer} has an unsafe ${unsafe}`)
    }
    return new Response(body.length > 0 ? body : null, response)
  }
