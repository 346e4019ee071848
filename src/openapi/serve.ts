/** Serves the OpenAPI documents of all versions, each made when it is first asked for. */
import { lru } from '#base/cache.ts'
import { restPath } from '#base/paths.ts'
import type { Content } from '#content.ts'
import { preferred } from '#http/accept.ts'
import { exchange, type HttpContext } from '#http/exchange.ts'
import { type App, type Http, header } from '#http/request.ts'
import type { Model } from '#model/model.ts'
import { newest, type Version, versions } from '#model/version.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { announcing } from '#rest/fail.ts'
import { represent } from '#rest/represent.ts'
import { type Notices, successorOf } from '#versions/deprecation.ts'
import { jsonTypes, versionOf } from '#versions/negotiation.ts'

/** The media type of OpenAPI documents, which nobody has registered yet. */
const documentType = 'application/vnd.oai.openapi+json'

const file = 'openapi.json'

/** The paths of the documents: `/openapi.json` and the unversioned path have the document of the version that the request names. */
const documentPaths: readonly string[] = [
  `/${file}`,
  ...['', ...versions.map(version => `/v${version}`)].map(part => `${restPath}${part}/${file}`),
]

/** Mounts the documents of a content on the app; the document of a version that has ended stays. */
export const mountOpenApi = (
  app: App,
  content: Content,
  model: Model,
  edge: HttpContext,
  notices: Notices | undefined,
): void => {
  const texts = lru<Promise<string>>(versions.length)
  const textOf = (version: Version): Promise<string> => {
    const lifecycle = notices?.lifecycle()
    const key = `${version} ${JSON.stringify(lifecycle)}`
    const made = () =>
      openApiOf(content, version, model, lifecycle).then(one => JSON.stringify(one))
    return texts.get(key) ?? texts.set(key, made())
  }
  const { fail, around } = announcing(notices, successorOf(model, newest, undefined))
  const answer = around(async (c: Http) => {
    const named = versionOf(c)
    const form = preferred(header(c, 'accept') ?? '', [...jsonTypes, documentType])
    const type = form === documentType ? { type: `${documentType};version=3.1` } : {}
    return represent(c, edge, await textOf(named.version), { named, isPublic: true, ...type })
  })
  for (const path of documentPaths) app.get(path, exchange(edge, fail, answer, path))
}
