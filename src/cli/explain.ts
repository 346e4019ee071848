/** Errors as lines for an operator. */

type SystemError = NodeJS.ErrnoException & {
  readonly port?: number
  readonly address?: string
  readonly hostname?: string
}

const unknownHost = ({ hostname }: SystemError) =>
  `no address of ${hostname} is known; set DUET_HOST, or DUET_METRICS_HOST where that names it, to a name or an address of this machine`

const another = 'name another path, that of the store in DUET_DATABASE_URL'
const elsewhere = `${another}; or give this user the right to it`

/** Messages for system errors, with the subject and the remedy that the system's own leave out. */
const remedies: Readonly<Record<string, (error: SystemError) => string>> = {
  EADDRINUSE: ({ port }) =>
    `port ${port} is in use already; set DUET_PORT to another, or to 0 for a free one`,
  EADDRNOTAVAIL: ({ address }) => `this machine has no address ${address}; set DUET_HOST to one`,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ENOENT: ({ path }) => `there is no such file: ${path}`,
  ENOTDIR: ({ path }) =>
    `${path} leads through a file or is one, where a folder is needed; ${another}`,
  EROFS: ({ path }) => `${path} is on a disk that cannot be written; ${elsewhere}`,
  EACCES: ({ path, port }) =>
    path === undefined
      ? `this user may not listen on port ${port}; set DUET_PORT to one above 1023`
      : `${path} is closed to this user; ${elsewhere}`,
}

/** An error in a sentence, with what to do where that is known. */
export const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const remedy = remedies[String((error as SystemError).code)]
  return remedy ? remedy(error) : error.message
}
