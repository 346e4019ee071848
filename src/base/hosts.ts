/** The servers that a PostgreSQL URL names: one, or several with commas between, as libpq has them (PostgreSQL manual, section 34.1.1.2). */

const form = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is

/** A URL for each server, in the order of the URL; the URL itself where it has another form. */
export const serversIn = (url: string): readonly string[] => {
  const [, before, hosts, after] = form.exec(url) ?? []
  return hosts === undefined ? [url] : hosts.split(',').map(host => `${before}${host}${after}`)
}

/** Its `target_session_attrs`; undefined where it has none. */
export const targetIn = (url: string): string | undefined =>
  URL.parse(serversIn(url)[0] ?? '')?.searchParams.get('target_session_attrs') ?? undefined

/** Whether the primary must be looked for: among several servers, or where the URL asks for a session that may write. */
export const seeksPrimary = (url: string): boolean =>
  serversIn(url).length > 1 || targetIn(url) !== undefined

/** Whether a text is a PostgreSQL URL that names a database. */
export const isPostgres = (text: string): boolean =>
  serversIn(text).every((one, _, all) => {
    const { protocol = '', hostname, pathname = '' } = URL.parse(one) ?? {}
    return (
      /^postgres(ql)?:$/.test(protocol) && pathname.length > 1 && (hostname || all.length === 1)
    )
  })
