/** The socket that a supervisor made and handed over, as systemd does: sd_listen_fds(3). */
import { ConfigError } from '#settings.ts'

/** The first descriptor that is handed over. */
const firstDescriptor = 3

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The descriptor of the socket that was handed over to the process with that id; undefined where there is none, or it is for another
 * process. Throws ConfigError for more than one.
 */
export const handedOver = (environment: Environment, pid: number): number | undefined => {
  const { LISTEN_PID, LISTEN_FDS } = environment
  if (LISTEN_PID !== String(pid) || LISTEN_FDS === undefined) return undefined
  if (LISTEN_FDS !== '1')
    throw new ConfigError(
      `LISTEN_FDS is ${LISTEN_FDS}: one socket is served, so hand over one; a unit of systemd has one ListenStream=`,
    )
  return firstDescriptor
}
