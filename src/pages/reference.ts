/** The pages about the APIs: the reference of the REST API, its versions, and the errors of both. */
import { docsPath, errorsPath, versionsPath } from '#base/paths.ts'
import type { App } from '#http/request.ts'
import type { Assets } from './assets.ts'
import { docsPage } from './docs.ts'
import { type ErrorsOptions, errorsPage } from './error-codes.ts'
import { originOf } from './origin.ts'
import { send } from './page.ts'
import { type VersionsOptions, versionsPage } from './versions.ts'

export type ReferenceOptions = {
  readonly versions: VersionsOptions
  readonly errors: ErrorsOptions
}

/** Serves the pages. */
export const mountReference = (app: App, options: ReferenceOptions, assets: Assets): void => {
  const { versions, errors } = options
  app.get(docsPath, async c => send(await docsPage(versions.versions, assets), c))
  app.get(versionsPath, async c =>
    send(await versionsPage(versions, originOf(c.req.url), assets), c),
  )
  app.get(errorsPath, async c => send(await errorsPage(errors, assets), c))
}
