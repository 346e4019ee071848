/** Works with values or promises alike without making promises, since one costs as much as a small read. */

/** The result of `next` for a value; a promise only if the value is one. */
export const after = <Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> => (value instanceof Promise ? value.then(next) : next(value))

/** The result of `work`, or of `recover` for its error if it throws or rejects. */
export const attempt = <Result>(
  work: () => Result | Promise<Result>,
  recover: (error: unknown) => Result | Promise<Result>,
): Result | Promise<Result> => {
  try {
    const result = work()
    return result instanceof Promise ? result.catch(recover) : result
  } catch (error) {
    return recover(error)
  }
}
