/** Texts that are SQL where somebody puts them into it, and every parameter that the document of the API names. */
import { restPath } from '#base/paths.ts'
import type { Json } from '#test/fuzz/values.ts'

const opening = ['', "'", '"', '`', "')", '"))', "\\'", '%27', '1', '1)']
const inner = [
  ' or 1=1',
  " or '1'='1",
  ' and 1=0',
  ' union select null,null',
  '; drop table users',
  "; update users set role='admin'",
  ' or exists(select 1 from users)',
  '||(select name from sqlite_master)||',
  ' and randomblob(9)',
  ' or pg_sleep(9)',
  '; attach database x as y',
  ' returning *',
]
const closing = ['', ' --', '/*', ';', ' #']

/** Hundreds of them. */
export const injections: readonly string[] = opening.flatMap(begin =>
  inner.flatMap(middle => closing.map(end => `${begin}${middle.trim()}${end}`)),
)

/** A text of the same length that nobody takes for anything else. */
export const harmless = (text: string): string => 'x'.repeat(text.length)

/** Makes the request with a text as one parameter. */
export type Place = {
  readonly name: string
  readonly ask: (text: string) => {
    readonly line: string
    readonly headers: Record<string, string>
  }
}

/** The first of each thing to be read; what would be changed is not there. */
const filled = (method: string, path: string) =>
  path.replace(/\{\w+\}/g, method === 'get' ? '1' : '900000')

const placeOf = (method: string, path: string, { in: where, name }: Json): Place => {
  const line = (target: string) => `${method.toUpperCase()} ${restPath}${target}`
  return {
    name: `${method} ${path} ${where} ${name}`,
    ask: text => {
      const escaped = encodeURIComponent(text)
      if (where === 'path')
        return { line: line(filled(method, path.replace(`{${name}}`, escaped))), headers: {} }
      if (where === 'query')
        return { line: line(`${filled(method, path)}?${name}=${escaped}`), headers: {} }
      // Some headers take no spaces, which SQL can do without.
      return { line: line(filled(method, path)), headers: { [name]: text.replaceAll(' ', '/**/') } }
    },
  }
}

/** Every parameter of every operation of a document. */
export const placesIn = (document: Json, resolve: (schema: Json) => Json): readonly Place[] =>
  Object.entries<Json>(document.paths).flatMap(
    ([path, { parameters: shared = [], ...operations }]) =>
      Object.entries<Json>(operations).flatMap(([method, { parameters = [] }]) =>
        [...shared, ...parameters].map(one => placeOf(method, path, resolve(one))),
      ),
  )
