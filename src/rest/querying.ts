/** QUERY of a list (RFC 10008): what GET answers, with parameters in a body beside those of the URL. */
import { parametersIn } from '#base/parameters.ts'
import { ApiError } from '#errors.ts'
import type { HttpContext } from '#http/edge.ts'
import { formBody, queryString } from '#http/request.ts'
import type { Version } from '#model/version.ts'
import type { RestHandler } from '#versions/negotiation.ts'
import { invalid } from '#write/input.ts'

/** The most bytes of parameters: as many as the longest URL that an operator may allow. */
const longest = 16_384

/** The parameters of both places; throws `VALIDATION_ERROR` for a version in the body, which is read when the version is known. */
const joined = (inUrl: string, inBody: string): string => {
  if (parametersIn(inBody).has('version'))
    throw invalid([{ field: 'version', message: 'must be named in the URL or in a header' }])
  return inUrl !== '' && inBody !== '' ? `${inUrl}&${inBody}` : inUrl + inBody
}

/** Does it, and throws what it throws but for faults of parameters. */
const notFaulty = (work: () => Promise<unknown>): Promise<unknown> =>
  work().catch(error => {
    if (!(error instanceof ApiError && error.code === 'VALIDATION_ERROR')) throw error
  })

const querying =
  ({ bodyLimit }: HttpContext, serve: RestHandler): RestHandler =>
  async (c, viewer, named) => {
    try {
      const form = await formBody(c, Math.min(bodyLimit, longest))
      c.set('parameters', joined(queryString(c), form))
    } catch (error) {
      // 403 and 404 come before the faults of a body, and those of its URL's parameters after them.
      await notFaulty(async () => serve(c, viewer, named))
      throw error
    }
    return serve(c, viewer, named)
  }

/** The handlers of a list for QUERY by version, made of those for GET, whose plans and cached answers they share. */
export const queriedBy = (
  edge: HttpContext,
  served: ReadonlyMap<Version, RestHandler>,
): ReadonlyMap<Version, RestHandler> =>
  new Map([...served].map(([version, serve]) => [version, querying(edge, serve)]))
