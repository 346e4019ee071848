/** Differences as people read them, and what the changelog must say about them. */
import type { Difference } from '#contract/difference.ts'
import { classes } from '#contract/rules.ts'

/** The paths of one operation that differ in the status alone as one path, with all the statuses in it. */
const merged = (paths: readonly string[]): readonly string[] => {
  const steps = paths.map(path => path.split(' → '))
  const same = Map.groupBy(steps, ([operation, , ...rest]) => JSON.stringify([operation, rest]))
  return [...same.values()].map(all => {
    const [operation, , ...rest] = all[0] ?? []
    const statuses = new Set(all.map(([, status]) => status ?? ''))
    return [operation, [...statuses].join(', '), ...rest].filter(step => step !== '').join(' → ')
  })
}

/** Every difference with its places, by class with the worst first; empty where there is none. */
export const report = (differences: readonly Difference[]): string =>
  classes
    .flatMap(name => {
      const some = differences.filter(difference => difference.class === name)
      const same = Map.groupBy(some, ({ rule, message, hits }) => `  ${rule}: ${message} (${hits})`)
      const lines = [...same].flatMap(([what, all]) => [
        what,
        ...merged(all.map(({ path }) => path)).map(place => `    ${place}`),
      ])
      return some.length === 0 ? [] : [`${name}: ${some.length}`, ...lines]
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
