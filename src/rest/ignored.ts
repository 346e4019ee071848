/** Query parameters that a lenient version ignores, shown to developers, who may have misspelt one. */
import { after } from '#base/after.ts'
import { parametersIn } from '#base/parameters.ts'
import { parametersOf as queryOf } from '#http/request.ts'
import { resourceOf } from '#model/resource.ts'
import type { Mount } from '#rest/mount.ts'
import { listParameters, oneParameters } from '#rest/paging.ts'
import type { Route } from '#rest/routes.ts'
import { styleOf } from '#versions/differences.ts'
import type { RestHandler } from '#versions/negotiation.ts'

/** The query parameters that a route of the model reads, beside `version`. */
export const parametersOf = (
  { core, version }: Mount,
  { kind, entity }: Route,
): readonly string[] => {
  const resource = resourceOf(core.model, entity, version)
  if (kind === 'list') return listParameters(resource)
  return kind === 'one' ? oneParameters(resource) : []
}

/** The most names in the header. */
const most = 10

/** The same, with the names of the parameters that it ignores in the header `Duet-Ignored`, percent-encoded. */
export const reportingIgnored = (
  serve: RestHandler,
  { version }: Mount,
  parameters: readonly string[],
): RestHandler => {
  if (styleOf(version).isStrict) return serve
  const known = [...parameters, 'version']
  return (c, viewer, named) => {
    const text = queryOf(c)
    if (text === '') return serve(c, viewer, named)
    const names = new Set(parametersIn(text).keys())
    const ignored = [...names].filter(name => !known.includes(name)).slice(0, most)
    return after(serve(c, viewer, named), reply => {
      if (ignored.length > 0)
        reply.headers['Duet-Ignored'] = ignored
          .map(name => encodeURIComponent(name.toWellFormed()).slice(0, 100))
          .join(', ')
      return reply
    })
  }
}
