/** Errors as the REST API prints them, one shape everywhere in a version, and the notices of a deprecated version that all its answers carry. */
import { after } from '#base/after.ts'
import { docsPath, errorsPath } from '#base/paths.ts'
import { ApiError } from '#errors.ts'
import type { Fail, Handle } from '#http/exchange.ts'
import { errorHeaders, type Reply } from '#http/reply.ts'
import type { Http } from '#http/request.ts'
import type { Version, Versions } from '#model/version.ts'
import type { Notices, Successor } from '#versions/deprecation.ts'
import { errorVersionOf } from '#versions/negotiation.ts'

/** The error in the shape of a version, with its own status. */
export const failIn = (
  versions: Versions,
  version: Version,
  error: ApiError,
  requestId: string,
): Reply => {
  const { code, title, message, status, details } = error
  const isProblem = versions.styleOf(version).errors === 'problem'
  // A problem is as RFC 9457 has it, with its code and the fields at fault.
  const body = isProblem
    ? {
        type: `${errorsPath}#${code}`,
        title,
        status,
        detail: message,
        code,
        ...(details && { errors: details }),
        requestId,
      }
    : { error: { code, message, ...(details && { details }), requestId } }
  return {
    status,
    headers: {
      'Content-Type': isProblem ? 'application/problem+json' : 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'API-Version': String(version),
      ...errorHeaders(error),
    },
    body: JSON.stringify(body),
  }
}

/** Prints errors in the shape of the version that the request names. */
export const failAsNamed =
  (versions: Versions): Fail =>
  (error, requestId, c) =>
    failIn(versions, errorVersionOf(versions, c), error, requestId)

/** The error for a path that leads nowhere, with a hint at the path that may have been meant, and the page that lists the paths. */
export const noSuchPath = (path: string, hint = '; '): ApiError =>
  new ApiError(
    'NOT_FOUND',
    `Path ${path} not found${hint}${docsPath} lists the paths of the REST API`,
  )

/** How the answers of a route carry notices: the function that prints its errors, and a wrapper for its handler. */
export type Announcing = { readonly fail: Fail; readonly around: (handle: Handle) => Handle }

/** The REST API's way to answer, with notices if there are any; without them nothing is in between. */
export const announcing = (
  versions: Versions,
  notices: Notices | undefined,
  successor: Successor,
): Announcing => {
  const fail = failAsNamed(versions)
  if (!notices) return { fail, around: handle => handle }
  const announced = (c: Http, reply: Reply) => notices.announce(c, reply, successor)
  return {
    fail: (error, requestId, c) => announced(c, fail(error, requestId, c)),
    around: handle => (c, viewer, requestId) =>
      after(handle(c, viewer, requestId), reply => announced(c, reply)),
  }
}
