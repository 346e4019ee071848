/** Errors as the REST API prints them: one shape everywhere in a version. */
import { errorsPath } from '#base/paths.ts'
import type { ApiError } from '#errors.ts'
import { errorHeaders, type Reply } from '#http/reply.ts'
import type { Http } from '#http/request.ts'
import type { Version } from '#model/version.ts'
import { styleOf } from '#rest/style.ts'
import { errorVersionOf } from '#rest/version.ts'

const asError = ({ code, message, details }: ApiError, requestId: string) => ({
  error: { code, message, ...(details && { details }), requestId },
})

/** The error as a problem (RFC 9457), with its code and the fields at fault. */
const asProblem = ({ code, title, message, status, details }: ApiError, requestId: string) => ({
  type: `${errorsPath}#${code}`,
  title,
  status,
  detail: message,
  code,
  ...(details && { errors: details }),
  requestId,
})

/** The error in the shape of a version, with its own status. */
export const failIn = (version: Version, error: ApiError, requestId: string): Reply => {
  const isProblem = styleOf(version).errors === 'problem'
  return {
    status: error.status,
    headers: {
      'Content-Type': isProblem ? 'application/problem+json' : 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'API-Version': String(version),
      ...errorHeaders(error),
    },
    body: JSON.stringify(isProblem ? asProblem(error, requestId) : asError(error, requestId)),
  }
}

/** The error in the shape of the version that the request names. */
export const fail = (error: ApiError, requestId: string, c: Http): Reply =>
  failIn(errorVersionOf(c), error, requestId)
