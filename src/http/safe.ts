/** Methods that change nothing: GET, HEAD, and QUERY (RFC 10008), whose parameters are in its body. */

export const queryMethod = 'QUERY'

export const isQuery = (method: string): boolean => method === queryMethod

/** Whether a method is safe (RFC 9110, section 9.2.1), as far as requests with it get further than to a refusal. */
export const isSafe = (method: string): boolean =>
  method === 'GET' || method === 'HEAD' || isQuery(method)

/** The form of a query string, as bodies have it. */
export const formType = 'application/x-www-form-urlencoded'

/** The header that says which bodies of a QUERY are read (RFC 10008, section 3); a media type is a token of structured fields. */
export const acceptQuery = (types: readonly string[]): { readonly 'Accept-Query': string } => ({
  'Accept-Query': types.join(', '),
})
