/** What the code uses of Node 26 and Node 24 lacks: the methods of maps by which a missing value is put in. */
for (const { prototype } of [Map, WeakMap] as const) {
  const lacks = (name: string) => !Object.hasOwn(prototype, name)
  if (lacks('getOrInsertComputed'))
    Object.defineProperty(prototype, 'getOrInsertComputed', {
      configurable: true,
      writable: true,
      value(this: Map<unknown, unknown>, key: unknown, make: (key: unknown) => unknown) {
        if (!this.has(key)) this.set(key, make(key))
        return this.get(key)
      },
    })
  if (lacks('getOrInsert'))
    Object.defineProperty(prototype, 'getOrInsert', {
      configurable: true,
      writable: true,
      value(this: Map<unknown, unknown>, key: unknown, value: unknown) {
        if (!this.has(key)) this.set(key, value)
        return this.get(key)
      },
    })
}
