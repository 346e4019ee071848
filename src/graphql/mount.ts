/** The paths of the GraphQL API in an app. */
import { graphqlPath, schemaPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import type { GraphqlApi, GraphqlOptions } from '#graphql/graphql.ts'
import { loadGraphql } from '#graphql/load.ts'
import { wantsPage } from '#graphql/media-types.ts'
import type { Edge } from '#http/edge.ts'
import { type App, type Http, header } from '#http/request.ts'
import { queryMethod } from '#http/safe.ts'

/** Mounts the API, and gives a page to browsers that open its endpoint; it is opened when the first request for it comes. */
export const mountGraphql = (
  app: App,
  core: Core,
  edge: Edge,
  options: GraphqlOptions,
  page: (c: Http) => Response | Promise<Response>,
): void => {
  let api: GraphqlApi | undefined
  const open = async (): Promise<GraphqlApi> => {
    const { openGraphql } = await loadGraphql()
    api ??= openGraphql(core, edge, options)
    return api
  }
  const serve = (c: Http) => (api ? api.serve(c) : open().then(opened => opened.serve(c)))
  app.post(graphqlPath, serve)
  app.on(queryMethod, graphqlPath, serve)
  app.get(graphqlPath, c => (wantsPage(header(c, 'accept')) ? page(c) : serve(c)))
  app.get(schemaPath, c => open().then(opened => opened.serveSchema(c)))
}
