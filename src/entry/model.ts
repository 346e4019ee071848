/** `duet/model`: entities, fields, relations, and the words of rules and conditions. */

// Conditions, such as `{ status: 'published', authorId: viewer }`.
export { type Condition, now, viewer } from '#model/condition.ts'

// Entities and their relations.
export { type Entity, entity, many, one } from '#model/entity.ts'

// The kinds of fields, and what may be said of any.
export {
  avg,
  bytes,
  choice,
  computed,
  count,
  created,
  date,
  decimal,
  email,
  type Field,
  type FieldOptions,
  file,
  fixed,
  flag,
  folded,
  id,
  int,
  internal,
  json,
  list,
  money,
  reference,
  revision,
  slug,
  subject,
  text,
  time,
  updatedAt,
  webUrl,
} from '#model/field.ts'

// Rules: who may do what.
export {
  anyone,
  defineRoles,
  nobody,
  type Policy,
  type Roles,
  type Rule,
  role,
  self,
  signedIn,
  whileOpen,
  withRole,
} from '#model/policy.ts'
