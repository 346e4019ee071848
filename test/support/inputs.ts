/** An entity of every kind of field, and the check of its inputs. */
import { entity } from '#model/entity.ts'
import {
  choice,
  created,
  email,
  fixed,
  flag,
  folded,
  id,
  int,
  money,
  reference,
  revision,
  text,
  webUrl,
} from '#model/field.ts'
import { anyone, type Viewer } from '#model/policy.ts'
import { checkInput, type InputContext, type Mode } from '#write/input.ts'
import { admin, roles } from './roles.ts'

/** An entity of every kind of field. */
export const thing = entity({
  fields: {
    id: id(),
    name: text({ max: 5, trimmed: true }),
    mail: email({ nullable: true }),
    size: int({ min: 0, max: 9, nullable: true }),
    price: money({ max: 100, initial: { value: 0 } }),
    state: choice(['new', 'old'], { settableBy: admin, initial: { value: 'new' } }),
    done: flag({ ...fixed, initial: { value: 0 } }),
    link: webUrl({ nullable: true }),
    ownerId: reference('thing', { onDelete: 'cascade', initial: 'viewer' }),
    createdAt: created({ until: { 1: { name: 'created_at' } } }),
    nameKey: folded('name'),
    revision: revision(),
  },
  policy: { read: anyone },
  rest: { list: true, one: true, listing: { paging: 'page', limit: 10 } },
})

const ben: Viewer = { id: 2, role: 'user' }
export const ada: Viewer = { id: 1, role: 'admin' }

/** The settings of a content in dollars. */
export const dollars = { switches: { signup: true }, currency: { code: 'USD', digits: 2 } }
const viewers = { entity: 'user', blocked: { field: 'state', value: 'old' }, roles }

/** What the check asks of a model. */
export const model = { settings: dollars, viewers }
export const inputContext = (mode: Mode, more: Partial<InputContext> = {}): InputContext => ({
  mode,
  viewer: ben,
  model,
  now: 1000,
  what: 'thing',
  ...more,
})
export const check = (input: object, mode: Mode = 'create', more: Partial<InputContext> = {}) => {
  const { values, faults } = checkInput(
    thing,
    input as Record<string, unknown>,
    inputContext(mode, more),
  )
  return {
    values: Object.fromEntries(values),
    faults: Object.fromEntries(faults.map(({ field, message }) => [field, message])),
  }
}
