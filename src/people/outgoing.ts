/** What the thread of people asks of identity providers: bounded in time and size, without redirects, and only of an issuer that is who it says. */
import { isObject } from '#base/object.ts'

/** How long a provider may take, in milliseconds, and how much it may say, in bytes. */
const longest = 5000
const most = 262_144

const discovery = '/.well-known/openid-configuration'

/** The body of an answer, at most so many bytes of it. */
const bodyOf = async (response: Response): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > most) throw new Error(`an identity provider answered with more than ${most} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

/** A `fetch` with these bounds; the discovery document of an issuer must name that issuer (OpenID Connect Discovery, section 4.3). */
export const boundedFetch = (
  issuers: readonly string[],
  request: typeof fetch = globalThis.fetch,
): typeof fetch => {
  const plain = (issuer: string) => issuer.replace(/\/$/, '')
  return async (input, init) => {
    const time = AbortSignal.timeout(longest)
    const signal = init?.signal ? AbortSignal.any([init.signal, time]) : time
    // A redirect could lead to an address that the operator never named.
    const response = await request(input, { ...init, signal, redirect: 'error' })
    const body = await bodyOf(response)
    const url = input instanceof Request ? input.url : String(input)
    const issuer = issuers.find(one => url === plain(one) + discovery)
    if (issuer !== undefined && response.ok) {
      const document: unknown = JSON.parse(new TextDecoder().decode(body))
      if (!isObject(document) || plain(String(document.issuer)) !== plain(issuer))
        throw new Error(`the discovery document of ${issuer} names another issuer`)
    }
    return new Response(body.length > 0 ? body : null, response)
  }
}
