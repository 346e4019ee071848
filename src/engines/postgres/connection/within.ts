/** Waiting with a deadline. */

/** Whether the work ends within so many milliseconds; throws what it throws until then. */
export const endsWithin = async (ms: number, work: Promise<unknown>): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
