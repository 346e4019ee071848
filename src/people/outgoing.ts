/** What the thread of people asks of identity providers: bounded in time and size, without redirects, and only of an issuer that is who it says. */
import { boundedBody } from '#auth/key-set.ts'
import { isObject } from '#base/object.ts'

/** How long a provider may take, in milliseconds, and how much it may say, in bytes. */
const longest = 5000
const most = 262_144

/** Where an issuer has its discovery document. */
export const discoveryOf = (issuer: string): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

/** A `fetch` with these bounds; the discovery document of an issuer must name that issuer (OpenID Connect Discovery, section 4.3). */
export const boundedFetch = (
  issuers: readonly string[],
  request: typeof fetch = globalThis.fetch,
): typeof fetch => {
  return async (input, init) => {
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
    }
    return new Response(body.length > 0 ? body : null, response)
  }
}
