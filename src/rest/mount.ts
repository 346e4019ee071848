/** The context and the type of the REST API's handlers. */
import { docsPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import type { HttpContext } from '#http/edge.ts'
import type { Http } from '#http/request.ts'
import { notFound } from '#model/model.ts'
import { parseId } from '#model/values.ts'
import type { Version } from '#model/version.ts'

/** The core, the edge, the prefix below which links stand, and the version that is served. */
export type Mount = {
  readonly core: Core
  readonly edge: HttpContext
  readonly prefix: string
  readonly version: Version
}

/** The id in a path; throws `NOT_FOUND` for a text that is no id. */
export const pathId = (c: Http, parameter: string, entity: string): number => {
  const text = c.req.param(parameter) ?? ''
  const id = parseId(text)
  if (id === undefined) throw notFound(entity, text.slice(0, 40))
  return id
}

/** The error for a path that leads nowhere, with what may have been meant, and where the paths are listed. */
export const noSuchPath = (path: string, hint = '; '): ApiError =>
  new ApiError(
    'NOT_FOUND',
    `Path ${path} not found${hint}${docsPath} lists the paths of the REST API`,
  )
