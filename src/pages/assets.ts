/** The files the pages load, our own and those of npm packages, served by the service under `/assets/`. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Env, Hono } from 'hono'
import { ApiError } from '#errors.ts'
import { preferred } from '#http/accept.ts'
import { isNotModified } from '#http/conditional.ts'
import { notAPage } from '#http/reply.ts'

export type Asset = {
  /** The package the file is of; ours where none is named. */
  readonly package?: string
  /** Its path in the package or in our folder, or where it is. */
  readonly file: string | URL
  readonly type: string
}

const script = 'text/javascript; charset=utf-8'
const style = 'text/css; charset=utf-8'

/** The files of the machine's own pages. */
export const machineAssets = {
  'graphiql.js': { package: 'graphiql', file: 'graphiql.min.js', type: script },
  'graphiql.css': { package: 'graphiql', file: 'graphiql.min.css', type: style },
  'react.js': { package: 'react', file: 'umd/react.production.min.js', type: script },
  'react-dom.js': { package: 'react-dom', file: 'umd/react-dom.production.min.js', type: script },
  'graphiql-page.js': { file: 'graphiql-page.js', type: script },
  'graphiql-page.css': { file: 'graphiql-page.css', type: style },
  'pages.css': { file: 'pages.css', type: style },
  'mark.svg': { file: 'mark.svg', type: 'image/svg+xml' },
} as const satisfies Record<string, Asset>

export type Assets = {
  /** Where the file is served, with a mark of its content, so that it may be kept for a year. */
  readonly url: (name: string) => Promise<string>
  /** The packages behind these files that are not installed. */
  readonly missing: (names: readonly string[]) => Promise<readonly string[]>
  readonly answer: (name: string, request: Request) => Promise<Response>
}

type Coding = 'br' | 'gzip' | 'identity'

type Loaded = {
  readonly type: string
  readonly hash: string
  readonly encoded: (coding: Coding) => Promise<Uint8Array<ArrayBuffer>>
}

// Of 3.5 MB of GraphiQL, brotli 5 leaves 0.66 MB in 75 ms; brotli 11 leaves 0.57 MB, in 5.8 s.
const compress = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
}
const brotliQuality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** A store of the table's files; each is read when first asked for, and stays in memory. */
export const openAssets = (files: Readonly<Record<string, Asset>>): Assets => {
  const assetOf = (name: string): Asset => {
    const asset = Object.hasOwn(files, name) ? files[name] : undefined
    if (asset === undefined) throw new ApiError('NOT_FOUND', `Asset ${name} not found`)
    return asset
  }
  const load = remember(async (name: string) => loaded(assetOf(name)))
  return {
    url: async name => `/assets/${name}?v=${(await load(name)).hash}`,
    missing: async names => {
      const packages = new Set<string>()
      for (const name of names) {
        const { package: from } = assetOf(name)
        if (from !== undefined && !(await isThere(load(name)))) packages.add(from)
      }
      return [...packages]
    },
    answer: async (name, request) => answer(await load(name), request),
  }
}

/** Serves the files under `/assets/`. */
export const mountAssets = <E extends Env>(app: Hono<E>, assets: Assets): void => {
  app.get('/assets/:name', c => assets.answer(c.req.param('name'), c.req.raw))
}

const answer = async (asset: Loaded, request: Request): Promise<Response> => {
  const accepted = request.headers.get('accept-encoding') ?? 'identity'
  const coding = preferred(accepted, ['br', 'gzip', 'identity']) ?? 'identity'
  const etag = coding === 'identity' ? `"${asset.hash}"` : `"${asset.hash}-${coding}"`
  const headers: Record<string, string> = {
    ETag: etag,
    Vary: 'Accept-Encoding',
    'Cache-Control': cacheControl(asset, request),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': notAPage,
  }
  if (isNotModified(request.headers.get('if-none-match') ?? undefined, etag)) {
    return new Response(null, { status: 304, headers })
  }
  const body = await asset.encoded(coding)
  headers['Content-Type'] = asset.type
  headers['Content-Length'] = String(body.length)
  if (coding !== 'identity') headers['Content-Encoding'] = coding
  return new Response(body, { headers })
}

// Only a URL that names this very content may be kept; any other one must soon see a new release.
const cacheControl = (asset: Loaded, request: Request): string =>
  new URL(request.url).searchParams.get('v') === asset.hash
    ? 'public, max-age=31536000, immutable'
    : 'public, max-age=300'

const loaded = async (asset: Asset): Promise<Loaded> => {
  const body = await read(asset)
  return {
    type: asset.type,
    hash: createHash('sha256').update(body).digest('base64url').slice(0, 22),
    encoded: remember(async (coding: Coding) => {
      if (coding === 'br') return compress.br(body, brotliQuality)
      if (coding === 'gzip') return compress.gzip(body)
      return body
    }),
  }
}

const ownFile = (file: string | URL) =>
  file instanceof URL ? file : new URL(`assets/${file}`, import.meta.url)

const read = async (asset: Asset) => {
  // A file of our own that is gone is a fault of the release, not an option left out.
  if (asset.package === undefined) return readFile(ownFile(asset.file))
  try {
    // React exports its package.json but not its browser builds, hence the way over the folder.
    const folder = import.meta.resolve(`${asset.package}/package.json`)
    return await readFile(new URL(asset.file, folder))
  } catch (cause) {
    if (!isAbsence(cause)) throw cause
    const message = `Asset not found: the package ${asset.package} is not installed`
    throw new ApiError('NOT_FOUND', message, { cause })
  }
}

const isThere = (loading: Promise<Loaded>): Promise<boolean> =>
  loading.then(
    () => true,
    error => {
      if (error instanceof ApiError) return false
      throw error
    },
  )

const isAbsence = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'ENOENT')

// Callers that come while the first still works share its promise; a failure is not kept.
function remember<Key, Value>(make: (key: Key) => Promise<Value>) {
  const made = new Map<Key, Promise<Value>>()
  return (key: Key): Promise<Value> => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    value.catch(() => made.delete(key))
    return value
  }
}
