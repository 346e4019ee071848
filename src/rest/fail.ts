/** Errors as the REST API prints them: one shape everywhere. */
import type { ApiError } from '#errors.ts'
import { errorHeaders, type Reply } from '#http/reply.ts'

/** The error as `{"error": {code, message, details, requestId}}` with its own status. */
export const fail = (error: ApiError, requestId: string): Reply => {
  const { code, message, details, status } = error
  return {
    status,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'API-Version': '1',
      ...errorHeaders(error),
    },
    body: JSON.stringify({ error: { code, message, ...(details && { details }), requestId } }),
  }
}
