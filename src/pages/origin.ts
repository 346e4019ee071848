/** The address of the service as a caller reached it. */

/** The origin of a URL, for a shell command; any host that is not plainly one becomes `localhost`. */
export const originOf = (url: string): string => {
  const { origin, host } = new URL(url)
  return /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host) ? origin : 'http://localhost'
}
