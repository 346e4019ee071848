/** The files the pages load, our own and those of npm packages, served by the service under `/assets/`. */
import { hash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { html } from 'hono/html'
import { own } from '#base/object.ts'
import { ApiError } from '#errors.ts'
import { preferred } from '#http/accept.ts'
import { answer } from '#http/answer.ts'
import { isNotModified } from '#http/conditional.ts'
import { notAPage } from '#http/reply.ts'
import { type App, checkHead, type Http, header, requestIdOf } from '#http/request.ts'

export type Asset = {
  /** The package that the file is of; ours if none is named. */
  readonly package?: string
  /** Its path in the package or in our folder, or its URL. */
  readonly file: string | URL
  readonly type: string
  /** What is served of the text in the file. */
  readonly as?: (text: string) => string
}

/** What all pages know of the service that they are of. */
export type Site = {
  readonly title: string
  /** What it is, in a sentence or two. */
  readonly description?: string | undefined
  /** A colour for each API, such as `#0a736d`; pages take it darker by day and lighter by night, so that it can be read. */
  readonly colours?: { readonly graphql?: string; readonly rest?: string } | undefined
  readonly hasPeople?: boolean
  readonly hasGraphiql: boolean
}

/** The colours of a content's own as a style sheet, dark enough on white and light enough on black to be read. */
const coloursOf = ({ colours }: Site): string => {
  if (!colours) return ''
  const shades = (colour: string) =>
    ['min(l, 0.5)', 'max(l, 0.78)'].map(lightness => `oklch(from ${colour} ${lightness} c h)`)
  const set = Object.entries(colours).map(([api, of]) => `--${api}: light-dark(${shades(of)});`)
  return `\n:root { ${set.join(' ')} }\n`
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
  'swagger-ui.js': { package: 'swagger-ui-dist', file: 'swagger-ui-bundle.js', type: script },
  'swagger-ui.css': { package: 'swagger-ui-dist', file: 'swagger-ui.css', type: style },
  'docs-page.js': { file: 'docs-page.js', type: script },
  'docs-page.css': { file: 'docs-page.css', type: style },
  'frame.css': { file: 'frame.css', type: style },
  'pages.js': { file: 'pages.js', type: script },
  'pages.css': { file: 'pages.css', type: style },
  'session.js': { file: 'session.js', type: script },
  'people.js': { file: 'people.js', type: script },
  'people.css': { file: 'people.css', type: style },
  'admin.js': { file: 'admin.js', type: script },
  'admin.css': { file: 'admin.css', type: style },
  'mark.svg': { file: 'mark.svg', type: 'image/svg+xml' },
} as const satisfies Record<string, Asset>

export type Assets = {
  readonly site: Site
  /** The file's URL with a digest of its content, so that it may be cached for a year. */
  readonly url: (name: string) => Promise<string>
  readonly answer: (name: string, c: Http) => Promise<Response>
}

type Coding = 'br' | 'gzip' | 'identity'

const compressed = async (coding: 'br' | 'gzip', body: Buffer<ArrayBuffer>) => {
  // Loaded for the first file that is asked for, as a service starts without it.
  const { brotliCompress, constants, gzip } = await import('node:zlib')
  if (coding === 'gzip') return promisify(gzip)(body)
  // Of 1.9 MB of Swagger UI, brotli 5 leaves 0.43 MB in 100 ms; brotli 11 leaves 0.38 MB, in 5.6 s.
  return promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
}

/** The files of the table; each is read when it is first needed, and stays in memory until it is another one. */
export const openAssets = (
  table: Readonly<Record<string, Asset>>,
  site: Site = { title: 'Duet', hasGraphiql: true },
  isWatched = false,
): Assets => {
  const { title, colours = {} } = site
  const files: typeof table = {
    ...table,
    'frame.css': { ...machineAssets['frame.css'], as: text => text + coloursOf(site) },
    'mark.svg': {
      ...machineAssets['mark.svg'],
      as: text =>
        text
          .replace('<title>Duet', () => `<title>${html`${title}`}`)
          .replace('#0e8f87', colours.rest ?? '#0e8f87')
          .replace('#d6298f', colours.graphql ?? '#d6298f'),
    },
  }
  const assetNamed = (name: string): Asset => {
    const asset = own(files, name)
    if (asset === undefined) throw new ApiError('NOT_FOUND', `Asset ${name} not found`)
    return asset
  }
  const urlOf = ({ package: from, file }: Asset): URL => {
    if (from === undefined)
      return file instanceof URL ? file : new URL(`assets/${file}`, import.meta.url)
    // A built Duet has a copy. React exports its package.json but not its browser builds, so the path starts from its folder.
    const copy = new URL(`vendor/${from}/${file}`, import.meta.url)
    return existsSync(copy) ? copy : new URL(file, import.meta.resolve(`${from}/package.json`))
  }
  const loaded = remember(async (key: string) => {
    const [name = ''] = key.split('\n')
    const asset = assetNamed(name)
    const url = urlOf(asset)
    const bytes = await readFile(url)
    const body = asset.as ? Buffer.from(asset.as(bytes.toString())) : bytes
    return {
      type: asset.type,
      digest: hash('sha256', body, 'base64url').slice(0, 22),
      encoded: remember(
        async (coding: Coding): Promise<Uint8Array<ArrayBuffer>> =>
          coding === 'identity' ? body : compressed(coding, body),
      ),
    }
  })
  /** In development a file that was changed is another one. */
  const load = async (name: string) => {
    const changed = isWatched ? statSync(urlOf(assetNamed(name))).mtimeMs : ''
    return loaded(`${name}\n${changed}`)
  }
  return {
    site,
    url: async name => `/assets/${name}?v=${(await load(name)).digest}`,
    answer: async (name, c) => {
      const asset = await load(name)
      checkHead(c)
      const accepted = header(c, 'accept-encoding') ?? 'identity'
      const coding = preferred(accepted, ['br', 'gzip', 'identity']) ?? 'identity'
      const etag = coding === 'identity' ? `"${asset.digest}"` : `"${asset.digest}-${coding}"`
      // Only a URL with the digest of this very content may be cached for long; any other must soon see a new release.
      const isExact = c.req.query('v') === asset.digest
      const headers: Record<string, string> = {
        ETag: etag,
        Vary: 'Accept-Encoding',
        'Cache-Control': isExact ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
        'X-Content-Type-Options': 'nosniff',
        'Content-Security-Policy': notAPage,
        'X-Request-Id': requestIdOf(c),
      }
      if (isNotModified(header(c, 'if-none-match'), etag))
        return answer(c, 304, { headers, body: null })
      const body = await asset.encoded(coding)
      headers['Content-Type'] = asset.type
      headers['Content-Length'] = String(body.length)
      if (coding !== 'identity') headers['Content-Encoding'] = coding
      return answer(c, 200, { headers, body })
    },
  }
}

/** Serves the files under `/assets/`. */
export const mountAssets = (app: App, assets: Assets): void => {
  app.get('/assets/:name', c => assets.answer(c.req.param('name'), c))
}

// Callers that come while the first still works share its promise; a failure is not cached.
function remember<Key, Value>(make: (key: Key) => Promise<Value>) {
  const made = new Map<Key, Promise<Value>>()
  return (key: Key): Promise<Value> =>
    made.getOrInsertComputed(key, () => {
      const value = make(key)
      value.catch(() => made.delete(key))
      return value
    })
}
