/** The pages by themselves, without a service. */
import { Hono } from 'hono'
import content from '#content/duet.config.ts'
import { ApiError, machineErrors, mergeErrors } from '#errors.ts'
import type { App } from '#http/request.ts'
import { machineAssets, mountAssets, openAssets } from '#pages/assets.ts'
import { send } from '#pages/page.ts'
import {
  type GraphiqlOptions,
  graphiqlPage,
  mountReference,
  type ReferenceOptions,
} from '#pages/reference.ts'
import { mountStart, type StartOptions } from '#pages/start.ts'
import { usualModel } from '../world.ts'

/** The files of the machine. */
export const shippedAssets = openAssets(machineAssets)

/** What the start page is told. */
export const start: StartOptions = {
  model: usualModel,
  examples: content.examples,
  development: true,
  takesOperations: true,
  makesTokens: true,
  introspection: true,
  hasAdmin: true,
  rest: '/api/v2',
  version: '1.2.3',
}

/** What GraphiQL is told. */
export const graphiql: GraphiqlOptions = {
  endpoint: '/graphql',
  introspection: true,
  examples: content.examples,
}

/** What the reference is told. */
export const reference: ReferenceOptions = {
  guided: 'products',
  versions: {
    versions: [
      {
        version: 1,
        document: '/api/v1/openapi.json',
        deprecated: '2027-01-01',
        sunset: '2027-08-01',
      },
      { version: 2, document: '/api/v2/openapi.json' },
    ],
    differences: () => [{ what: 'the timestamp', ways: ['`created_at`', '`createdAt`, <b>'] }],
    example: '/products?sort=-price',
  },
  errors: {
    errors: [...mergeErrors(machineErrors, content.errors).values()],
    examples: async () => [
      { where: 'REST', status: 422, contentType: 'application/json', body: '{"code":"<b>"}' },
    ],
  },
}

type Options = { start?: StartOptions; graphiql?: GraphiqlOptions; reference?: ReferenceOptions }

/** A service of pages alone. */
export const appOf = (world: Options = {}) => {
  const app: App = new Hono()
  const assets = shippedAssets
  mountAssets(app, assets)
  mountStart(app, world.start ?? start, assets)
  mountReference(app, world.reference ?? reference, assets)
  app.get('/graphql', async c => send(await graphiqlPage(world.graphiql ?? graphiql, assets), c))
  app.onError((error, c) => {
    if (!(error instanceof ApiError)) throw error
    return c.json({ code: error.code, message: error.message }, error.status as 404)
  })
  return app
}

/** Asks a service of pages alone. */
export const get = (path: string, headers: Record<string, string> = {}, world: Options = {}) =>
  appOf(world).request(path, { headers })
