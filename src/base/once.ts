/** Values that cost time to make and that a start need not wait for. */

/** The value of `make`, which is called when the value is first asked for; a promise that rejected stays rejected, so use it where another time would fail alike. */
export const once = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
