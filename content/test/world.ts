/** A running content service for a test, with the small world in it unless the test says otherwise. */
import content from '#content/duet.config.ts'
import * as any from '#test/world.ts'
import { small } from './small-world.ts'

export * from '#test/world.ts'

/** Makes a world; close it in the end. Of another content it begins without rows. */
export const createWorld = (options: any.WorldOptions = {}): Promise<any.World> => {
  const isSmall = options.rows === undefined && (options.content ?? content) === content
  return any.createWorld({
    ...options,
    ...(isSmall && { rows: small, isKept: !options.model && !options.also }),
  })
}
