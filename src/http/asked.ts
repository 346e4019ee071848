/** How a request asks for a read: from where on, on whose behalf, and for how long. */
import type { HttpContext } from '#http/edge.ts'
import { type Http, hasHungUp, header } from '#http/request.ts'
import type { Viewer } from '#model/policy.ts'

/** The terms of a read for a request: not before the position that it names, for its caller, until its client hangs up. */
export const askedBy = ({ callerOf }: Pick<HttpContext, 'callerOf'>, c: Http, viewer: Viewer) => ({
  /** The position that an earlier write's answer named; undefined: any will do. */
  after: header(c, 'duet-position'),
  caller: () => callerOf(c, viewer),
  /** Calls back when the client hangs up; gives the function that forgets this. */
  onGone: (stop: () => void) => {
    const outgoing = c.env?.outgoing
    if (hasHungUp(c)) stop()
    outgoing?.once('close', stop)
    return () => void outgoing?.off('close', stop)
  },
})
