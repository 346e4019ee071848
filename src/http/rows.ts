/** What a write of many rows costs beyond its request: a part of its caller's rate, and memory while it is on its way. */
import { takeMore } from '#http/body.ts'
import type { Limiter } from '#http/limit/limiter.ts'
import type { Http } from '#http/request.ts'
import type { Viewer } from '#model/policy.ts'

/** So many rows, once they are begun, count as a request does; the first are those of the request itself. */
const perRequest = 100

/** Bytes that a row and each value of it take beside their body, as the input and as the command that waits to be written. */
const [rowBytes, valueBytes] = [1024, 128]

/** The most that a request takes so, which leaves its caller room for its body. */
const mostBytes = 12 * 1_048_576

type Counting = { readonly limiter?: Limiter | undefined }

/** Counts so much further work of a request against its caller's rate, of which its answer tells; throws or rejects with `RATE_LIMITED` above the limit. */
export const countWork = async (
  { limiter }: Counting,
  c: Http,
  caller: Viewer,
  work: number,
): Promise<void> => {
  if (work > 0) c.set('rate', await limiter?.count(c, caller, work))
}

/**
 * What the writes of a request count against its caller; each throws or rejects with `RATE_LIMITED` where they are too many at this
 * moment. `viewers` is the entity of the rows that speak for tokens; `rows` rejects with `OVERLOADED` too.
 */
export const countsFor = (
  counting: Counting,
  c: Http,
  caller: Viewer,
  viewers: string | undefined,
) => ({
  signUp: () => counting.limiter?.countSignUp(c, caller, viewers),
  creation: (viewer: Viewer, entity: string) => counting.limiter?.countCreation(c, viewer, entity),
  rows: async (written: { readonly rows: number; readonly values: number }): Promise<void> => {
    const { rows, values } = written
    await countWork(counting, c, caller, Math.ceil(rows / perRequest) - 1)
    if (rows > 1) takeMore(c, Math.min(rows * rowBytes + values * valueBytes, mostBytes))
  },
})
