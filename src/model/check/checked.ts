/** What each check of a model is given, and what it gives. */
import type { Entity } from '#model/entity.ts'

/** One entity among all of them. */
export type Checked = {
  readonly entities: Readonly<Record<string, Entity>>
  readonly name: string
  readonly self: Entity
}

/** Sentences, each about one fault. */
export type Faults = Iterable<string>

/** The own member of that name; undefined for names that every object has, such as `constructor`. */
export const own = <Value>(of: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined
