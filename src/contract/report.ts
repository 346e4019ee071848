/** Differences as people read them, and what the changelog must say about them. */
import type { Difference } from '#contract/difference.ts'
import { classes } from '#contract/rules.ts'

/** The paths of one operation that differ in the status alone as one path, with all the statuses in it. */
const merged = (paths: readonly string[]): readonly string[] => {
  const statuses = new Map<string, string[]>()
  for (const path of paths) {
    const [operation = '', status = '', ...rest] = path.split(' → ')
    const key = JSON.stringify([operation, rest])
    statuses.set(key, [...(statuses.get(key) ?? []), status])
  }
  return [...statuses].map(([key, all]) => {
    const [operation, rest] = JSON.parse(key) as [string, readonly string[]]
    const steps = [operation, [...new Set(all)].join(', '), ...rest]
    return steps.filter(step => step !== '').join(' → ')
  })
}

/** The places of each difference that is the same but for them. */
const placesOf = (differences: readonly Difference[]): ReadonlyMap<string, readonly string[]> => {
  const same = Map.groupBy(
    differences,
    ({ rule, message, hits }) => `${rule}: ${message} (${hits})`,
  )
  return new Map([...same].map(([what, all]) => [what, merged(all.map(({ path }) => path))]))
}

/** Every difference with its places, by class with the worst first; empty where there is none. */
export const report = (differences: readonly Difference[]): string =>
  classes
    .flatMap(name => {
      const some = differences.filter(difference => difference.class === name)
      if (some.length === 0) return []
      const lines = [...placesOf(some)].flatMap(([what, places]) => [
        `  ${what}`,
        ...places.map(place => `    ${place}`),
      ])
      return [`${name}: ${some.length}`, ...lines]
    })
    .map(line => `${line}\n`)
    .join('')

/** How many differences of each class there are, in words. */
export const counts = (differences: readonly Difference[]): string =>
  classes
    .map(name => `${differences.filter(difference => difference.class === name).length} ${name}`)
    .join(', ')

/** The items of the changelog's unreleased part, each with the texts that it sets as code. */
const unreleasedItems = (changelog: string): readonly (readonly string[])[] => {
  const [, part = ''] = /^## Unreleased$(.*?)(?=^## |$(?![\s\S]))/ms.exec(changelog) ?? []
  return part
    .split(/^[*-] /m)
    .slice(1)
    .map(item => [...item.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
}

const mentions = (code: string, name: string): boolean =>
  new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`).test(code)

/** Whether one item of the changelog's unreleased part names, as code, all that a difference is about. */
export const isNamed = (changelog: string, { names }: Difference): boolean =>
  unreleasedItems(changelog).some(codes =>
    names.every(name => codes.some(code => mentions(code, name))),
  )
