/** Serves the OpenAPI documents of all versions, each made when it is first asked for. */
import { lru } from '#base/cache.ts'
import { restPath, versionPath } from '#base/paths.ts'
import type { Content } from '#content.ts'
import { preferred } from '#http/accept.ts'
import { exchange, type HttpContext } from '#http/exchange.ts'
import { type App, type Http, header } from '#http/request.ts'
import type { Model } from '#model/model.ts'
import type { Version } from '#model/version.ts'
import { announcing } from '#rest/fail.ts'
import { represent } from '#rest/represent.ts'
import { type Notices, successorOf } from '#versions/deprecation.ts'
import { jsonTypesOf, versionOf } from '#versions/negotiation.ts'

/** The media type of OpenAPI documents, which nobody has registered yet. */
const documentType = 'application/vnd.oai.openapi+json'

const file = 'openapi.json'

/** Mounts the documents of a content on the app, at `/openapi.json` and the unversioned path that of the version which the request names; the document of a version that has ended stays. */
export const mountOpenApi = (
  app: App,
  content: Content,
  model: Model,
  edge: HttpContext,
  notices: Notices | undefined,
): void => {
  const { versions } = model
  const texts = lru<Promise<string>>(versions.all.length)
  const textOf = (version: Version): Promise<string> => {
    const lifecycle = notices?.lifecycle()
    const key = `${version} ${JSON.stringify(lifecycle)}`
    const made = async () => {
      const { openApiOf } = await import('#openapi/openapi.ts')
      return JSON.stringify(await openApiOf(content, version, model, lifecycle))
    }
    return texts.get(key) ?? texts.set(key, made())
  }
  const { fail, around } = announcing(
    versions,
    notices,
    successorOf(model, versions.newest, undefined),
  )
  const answer = around(async (c: Http) => {
    const named = versionOf(versions, c)
    const form = preferred(header(c, 'accept') ?? '', [...jsonTypesOf(versions), documentType])
    const type = form === documentType ? { type: `${documentType};version=3.1` } : {}
    return represent(c, edge, await textOf(named.version), { named, isPublic: true, ...type })
  })
  for (const folder of ['', restPath, ...versions.all.map(versionPath)]) {
    const path = `${folder}/${file}`
    app.get(path, exchange(edge, fail, answer, path))
  }
}
