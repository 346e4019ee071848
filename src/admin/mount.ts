/** The admin at `/admin`: its page, the model that it is made from, and what its viewer may do to rows. */
import { existsSync } from 'node:fs'
import { html } from 'hono/html'
import { type EntityOfCaller, mayOf, ownIdOf, revisionsOf, titledRows } from '#admin/may.ts'
import { adminModelOf } from '#admin/model.ts'
import { deleteView, saveView, viewsOf } from '#admin/views.ts'
import { adminPath } from '#base/paths.ts'
import type { Content } from '#content.ts'
import type { Core } from '#core.ts'
import { ApiError } from '#errors.ts'
import { jsonBody } from '#http/body.ts'
import { exchange, type Fail, type Handle, type HttpContext } from '#http/exchange.ts'
import { type App, type Http, readOptionsOf } from '#http/request.ts'
import type { Viewer } from '#model/policy.ts'
import { isStorable, parseId } from '#model/values.ts'
import type { Assets } from '#pages/assets.ts'
import { htmlPage, send, type WebPage } from '#pages/page.ts'
import { represent } from '#rest/represent.ts'
import { invalid } from '#write/input.ts'

/** The most rows that one request is about, and the longest text that titles are compared with. */
const mostIds = 100
const mostLetters = 200

/** What makes the page's files in a checkout. */
const builder = new URL('../../scripts/admin.mjs', import.meta.url)

let building: Promise<string | undefined> | undefined

/** Makes the page's files if a checkout lacks them, or has changed since, once for all that ask at the same time; gives what stands against it, such as a builder that is not installed. */
const faultOfBuild = (): Promise<string | undefined> => {
  const build = async () => existsSync(builder) && (await import(builder.href)).buildChangedAdmin()
  building ??= build()
    .then(() => undefined)
    .catch(error => error.message)
    .finally(() => {
      building = undefined
    })
  return building
}

const policy = {
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data: blob:",
  'connect-src': "'self'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
}

const pageOf = async (assets: Assets): Promise<WebPage> => {
  const title = `Admin · ${assets.site.title}`
  const fault = await faultOfBuild()
  if (fault !== undefined)
    return htmlPage(assets, {
      title,
      body: html`<main><h1>The admin is not built</h1><p><code>npm run build</code> makes it, with the packages for development, which <code>npm ci</code> installs.</p><pre><code>${fault}</code></pre></main>`,
    })
  return htmlPage(assets, {
    ...{ title, styles: ['admin.css'], scripts: ['admin.js'], policy },
    body: html`<div id="admin"><p class="waiting">The admin loads here. It needs JavaScript.</p></div>`,
  })
}

/** The ids of a query, in ascending order; throws `VALIDATION_ERROR` for too many. What is no id is 0, which no row has. */
const idsIn = (c: Http): readonly number[] => {
  const all = (c.req.query('ids') ?? '').split(',').filter(id => id !== '')
  if (all.length > mostIds)
    throw invalid([{ field: 'ids', message: `must be at most ${mostIds}, with commas between` }])
  return [...new Set(all.map(id => parseId(id) ?? 0))].sort((a, b) => a - b)
}

/** The text of a query that titles begin with. */
const textIn = (c: Http): string => {
  const text = c.req.query('text') ?? ''
  if (text.length > mostLetters || !isStorable(text))
    throw invalid([{ field: 'text', message: `must be a text of at most ${mostLetters} letters` }])
  return text
}

/** Serves the admin; what it answers as JSON is the caller's own, and errors are in the form that `fail` gives them. */
export const mountAdmin = (
  app: App,
  core: Core,
  { title = 'Duet' }: Content,
  edge: HttpContext,
  fail: Fail,
  assets: Assets,
): void => {
  const { model } = core
  const { inPlainJson, newest, usual } = model.versions
  const named = inPlainJson.get(String(newest)) ?? usual
  const serve = (path: string, answer: (c: Http, viewer: Viewer) => unknown, method = 'GET') => {
    const handle: Handle = async (c, viewer) => {
      if (viewer.role === 'anonymous')
        throw new ApiError('UNAUTHENTICATED', 'The admin asks for a token: sign in first')
      const answered = await answer(c, viewer)
      return answered === undefined
        ? { status: 204, headers: {}, body: null }
        : represent(c, edge, JSON.stringify(answered), { named, isPublic: false })
    }
    app.on(method, path, exchange(edge, fail, handle, path))
  }
  const entityIn = (c: Http): string => {
    const name = c.req.query('entity') ?? ''
    if (Object.hasOwn(model.entities, name)) return name
    throw new ApiError('NOT_FOUND', `There is no entity ${name.slice(0, 40)}`)
  }
  const of = (c: Http, viewer: Viewer, name = entityIn(c)): EntityOfCaller => ({
    ...{ core, name, viewer, options: readOptionsOf(edge, c, viewer) },
  })
  serve(`${adminPath}/model.json`, async (c, viewer) => {
    const { entity } = model.viewers
    const id = entity && viewer.subject ? await ownIdOf(of(c, viewer, entity)) : viewer.id
    return { title, ...adminModelOf(core, viewer, id) }
  })
  serve(`${adminPath}/may.json`, (c, viewer) => mayOf(of(c, viewer), idsIn(c)))
  serve(`${adminPath}/revisions.json`, (c, viewer) => revisionsOf(of(c, viewer), idsIn(c)))
  serve(`${adminPath}/find.json`, (c, viewer) => titledRows(of(c, viewer), textIn(c), idsIn(c)))
  const views = `${adminPath}/views`
  serve(views, (c, viewer) => viewsOf(core, viewer, entityIn(c)))
  const save = async (c: Http, viewer: Viewer) =>
    saveView(core, viewer, entityIn(c), await jsonBody(c, edge.bodyLimit, ['application/json']))
  const remove = (c: Http, viewer: Viewer) =>
    deleteView(core, viewer, entityIn(c), c.req.query('name') ?? '', c.req.query('role'))
  serve(views, save, 'PUT')
  serve(views, remove, 'DELETE')
  app.get(adminPath, async c => send(await pageOf(assets), c))
}
