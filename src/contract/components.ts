/** Compares what a document keeps by name: the names, and all that no operation led to. */
import { type Difference, found } from '#contract/difference.ts'
import { compareBody, compareParameter } from '#contract/request.ts'
import { compareHeader, compareResponse } from '#contract/response.ts'
import { compareSchemas } from '#contract/schema.ts'
import {
  type Compare,
  commonKeys,
  compareKeys,
  free,
  inside,
  maps,
  namesOf,
  nothing,
  own,
  type Place,
  pairOf,
  unknown,
} from '#contract/walk.ts'

/** What each kind of component is compared by; another kind is unknown. */
const kinds: Readonly<Record<string, Compare>> = {
  schemas: compareSchemas,
  responses: (before, after, at) => compareResponse(before, after, { ...at, way: 'read' }),
  headers: (before, after, at) => compareHeader(before, after, { ...at, way: 'read' }),
  parameters: (before, after, at) => compareParameter(before, after, { ...at, way: 'sent' }),
  requestBodies: compareBody,
  securitySchemes: compareKeys({ ...commonKeys }),
  examples: free,
}

const compareNamed = (kind: string, compare: Compare): Compare =>
  maps((before, after, at) =>
    namesOf(before, after).flatMap((name): readonly Difference[] => {
      const [was, is] = [own(before, name), own(after, name)]
      const there: Place = { ...inside(at, `.${name}`, name), visited: nothing() }
      const ref = `#/components/${kind}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (was === undefined) return found(there, 'component-added', `the name ${name} is new`)
      if (is === undefined) {
        const rule = kind === 'schemas' ? 'component-removed' : 'shared-part-removed'
        return found(there, rule, `the name ${name} is gone`)
      }
      return at.run.followed.has(pairOf(ref, ref)) ? [] : compare(was, is, there)
    }),
  )

/** Compares the components of two documents; what an operation led to has been compared there. */
export const compareComponents: Compare = maps((before, after, at) =>
  namesOf(before, after).flatMap(kind => {
    const compare = own(kinds, kind) as Compare | undefined
    const [was, is] = [own(before, kind), own(after, kind)]
    const there = inside(at, `.${kind}`, kind)
    if (kind === 'examples') return []
    return compare ? compareNamed(kind, compare)(was, is, there) : unknown(was, is, there)
  }),
)
