/** The servers that a PostgreSQL URL names: one, or several with commas between, as libpq has them (PostgreSQL manual, section 34.1.1.2). */

const form = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is

/** A URL for each server, in the order of the URL; the URL itself if it has another form. */
export const serversIn = (url: string): readonly string[] => {
  const [, before, hosts, after] = form.exec(url) ?? []
  return hosts === undefined ? [url] : hosts.split(',').map(host => `${before}${host}${after}`)
}

/** A name before an empty host: the server is reached by a Unix socket, whose folder is a parameter. */
const bySocket = /^(\w+:\/\/[^/?#]*@)(\/[^/?#]+\?(?:.*&)?host=(?:\/|%2F))/i

/** The parts of a URL of one server; undefined if it is none. */
const partsOf = (one: string): URL | undefined =>
  URL.parse(one.replace(bySocket, '$1localhost$2')) ?? undefined

/** The servers of a URL without names and passwords, and its database as it stands there. */
export const placeIn = (url: string): string => {
  const [parts] = serversIn(url).map(partsOf)
  const hosts = serversIn(url).map(one => URL.parse(one)?.host ?? '')
  return `postgres://${hosts.join()}${parts?.pathname ?? ''}`
}

/** The name of the database of a URL; undefined if it has none. */
export const databaseIn = (url: string): string | undefined => {
  const name = partsOf(serversIn(url)[0] ?? '')?.pathname.slice(1)
  try {
    return name ? decodeURIComponent(name) : undefined
  } catch {
    // A % that begins no escape is itself.
    return undefined
  }
}

/** Its `target_session_attrs`; undefined if it has none. */
export const targetIn = (url: string): string | undefined =>
  partsOf(serversIn(url)[0] ?? '')?.searchParams.get('target_session_attrs') ?? undefined

/** Whether the primary must be looked for: among several servers, or if the URL asks for a session that may write. */
export const seeksPrimary = (url: string): boolean =>
  serversIn(url).length > 1 || targetIn(url) !== undefined

/** Whether a text is a PostgreSQL URL that names a database. */
export const isPostgres = (text: string): boolean =>
  serversIn(text).every((one, _, all) => {
    const { protocol = '', hostname, pathname = '', search = '', hash = '' } = partsOf(one) ?? {}
    return (
      /^postgres(ql)?:$/.test(protocol) &&
      // What is no database may be a part of a password, which no message may show; so may what is before an @ and a host.
      /^\/[^@]+$/.test(pathname) &&
      !/@.*\//.test(search) &&
      !hash.includes('@') &&
      (hostname || all.length === 1)
    )
  })
