/** What the admin must know of a content beside its documents: kinds, labels, relations, and what a caller may do. Plain JSON. */
import { versionPath } from '#base/paths.ts'
import type { Core } from '#core.ts'
import { conditionInWords, operatorsOf } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { type Field, isDerived, longest } from '#model/field.ts'
import { entityOf, type Model } from '#model/model.ts'
import { linkOf } from '#model/names.ts'
import { bulkKinds, partRelations } from '#model/parts.ts'
import { judge, mayBeDoneBy, nobody, type Rule, type Viewer } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import { isIn } from '#model/version.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import { isSortable } from '#rest/sort.ts'
import { filterableMembers } from '#rest/where.ts'
import type { Action, RuledAction } from '#write/steps/action.ts'

type Allowance = 'yes' | 'no' | 'row'

/** `createdAt` as people read it: `Created at`; and `authorId`: `Author`. */
const worded = (name: string): string => {
  const words = name
    .replace(/(?<=.)Id$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const kindOf = (field: Field): string => {
  if (field.references) return 'reference'
  if (field.values) return 'choice'
  if (field.format) return field.format
  if (field.scalar !== 'text') return field.scalar
  if (typeof field.initial === 'object' && 'slugOf' in field.initial) return 'slug'
  return (field.range?.max ?? 0) > 300 ? 'long' : 'text'
}

/** Whether callers give a field, rather than the machine. */
const isGiven = (field: Field): boolean => field.settableBy.kind !== 'nobody' && !isDerived(field)

/** What an input of a field must know, of an entity or of an action. */
const shapeOf = (field: Field) => ({
  kind: kindOf(field),
  ...(field.references && { to: field.references.entity }),
  ...(field.values && { of: field.values }),
  ...(field.file && { accept: field.file.accept.join() }),
  ...(field.items && { items: kindOf(field.items) }),
  ...(field.range && { min: field.range.min, max: field.range.max }),
  ...(field.scale > 0 && { scale: field.scale }),
  ...(field.nullable && { nullable: true }),
})

/** The fields that the newest version of REST shows. */
const shownIn = (model: Model, name: string): readonly string[] =>
  resourceOf(model, name, model.versions.newest).members.flatMap(member =>
    member.kind === 'field' ? [member.field] : [],
  )

/** The member that names a row to people: what the author says, else the first short text. */
const titleOf = (model: Model, name: string): string | undefined => {
  const { fields, admin } = entityOf(model, name)
  const keys = shownIn(model, name)
  return (
    keys.find(key => key === admin.title) ??
    keys.find(key => fields[key]?.scalar === 'text' && /^(name|title|label)$/.test(key)) ??
    keys.find(key => {
      const field = fields[key] as Field
      return field.scalar === 'text' && !field.values && !field.format && isGiven(field)
    }) ??
    keys.find(key => fields[key]?.format === 'email')
  )
}

/** The title of an entity's rows that a caller may read in each of them; undefined if there is none. */
export const readableTitleOf = (model: Model, name: string, viewer: Viewer): string | undefined => {
  const title = titleOf(model, name)
  const rule = title === undefined ? nobody : entityOf(model, name).fields[title]?.readableBy
  return judge(rule ?? nobody, viewer, model) === 'yes' ? title : undefined
}

/** Whether the admin has an entity for a caller: one that may read rows of it, which the newest version of REST shows by themselves. */
export const isShownTo = (model: Model, name: string, viewer: Viewer, routes = routesOf(model)) => {
  const { policy } = entityOf(model, name)
  const isOwn = ({ entity, kind, below }: Route) =>
    entity === name && (kind === 'list' || (kind === 'one' && !below))
  const isNow = ({ lifetime }: Route) => isIn(lifetime, model.versions.newest)
  const rule = policy.enter ?? policy.read ?? nobody
  return judge(rule, viewer, model) !== 'no' && routes.some(route => isOwn(route) && isNow(route))
}

/** A model as one caller sees it: its routes in the newest version of REST, and what the rules say. */
const viewOf = (model: Model, viewer: Viewer) => {
  const version = model.versions.newest
  const verdict = (rule: Rule | undefined): Allowance => judge(rule ?? nobody, viewer, model)
  const routes = routesOf(model).filter(({ lifetime }) => isIn(lifetime, version))

  /** Whether a caller may give a field, in some row. */
  const settable = ({ fields }: Entity, key: string): Allowance => {
    const field = fields[key] as Field
    return isGiven(field) && !field.touched && key !== 'id' ? verdict(field.settableBy) : 'no'
  }
  const settableOf = (name: string): readonly string[] => {
    const entity = entityOf(model, name)
    const keys = Object.keys(entity.fields).filter(key => settable(entity, key) !== 'no')
    return keys.map(resourceOf(model, name, version).nameOf)
  }

  return { model, version, verdict, routes, settable, settableOf }
}

type SeenModel = ReturnType<typeof viewOf>

const spelled = (path: string) => path.replace(/:(\w+)/g, '{$1}')

/** What an input begins with: what the field has where nobody gives it, if that is stored as callers write it. A box without a tick says no, and one without a line that a list is empty. */
const usualOf = ({ initial, scalar, nullable, items, range }: Field) => {
  if (items && initial === undefined && range?.min === 0) return { initial: [] }
  const value = typeof initial === 'object' && 'value' in initial ? initial.value : null
  if (scalar === 'flag') return nullable && value === null ? {} : { initial: value === 1 }
  return value !== null && ['text', 'int', 'date'].includes(scalar) ? { initial: value } : {}
}

const fieldOut = ({ model, version, settable, verdict }: SeenModel, name: string, key: string) => {
  const entity = entityOf(model, name)
  const field = entity.fields[key] as Field
  const resource = resourceOf(model, name, version)
  const mayGive = settable(entity, key)
  const { create } = entity.policy
  // Nobody finds, orders or groups rows by what some of them do not show him.
  const isRead = verdict(field.readableBy) === 'yes'
  const isFilterable = isRead && [...filterableMembers(model, resource).values()].includes(key)
  const labelOf = (key: string) => entity.admin.fields?.[key]?.label ?? worded(key)
  const { initial } = field
  return {
    name: resource.nameOf(key),
    label: labelOf(key),
    ...{ description: field.description, place: entity.admin.fields?.[key]?.place },
    ...shapeOf(field),
    ...(field.initial === undefined && mayGive !== 'no' && { required: true }),
    ...usualOf(field),
    ...(typeof initial === 'object' && 'slugOf' in initial && { from: labelOf(initial.slugOf) }),
    ...(create?.kind === 'self' && create.fields.includes(key) && { self: true }),
    set: mayGive === 'no' ? 'never' : field.immutable ? 'create' : 'always',
    ...(isRead && field.rest && isSortable(entity, key) && longest(field) === 0 && { sort: true }),
    ...(isFilterable && { where: operatorsOf(entity, key) }),
    ...(!field.rest && { hidden: true }),
  }
}

const relationsOut = ({ model, routes, settableOf }: SeenModel, name: string) => {
  const { relations, rest } = entityOf(model, name)
  return Object.entries(relations).flatMap(([key, relation]) => {
    if (relation.kind === 'one')
      return [{ name: key, label: worded(key), kind: 'one', to: relation.to, by: relation.by }]
    const link = relation.through === undefined ? undefined : linkOf(model.entities, name, relation)
    const wordsIn = (mode: 'create' | 'update') =>
      partRelations(model, name, mode).find(part => part.key === key)?.words ?? []
    const path = routes.find(
      ({ kind, below, path }) =>
        kind === 'list' && below?.entity === name && path.endsWith(`/${key}`),
    )?.path
    if (path === undefined && !(key in rest.embedded)) return []
    return [
      {
        ...{ name: key, label: worded(key), to: relation.to },
        kind: relation.nestedWrites ? (link ? 'links' : 'nested') : 'rows',
        by: link?.by ?? relation.by,
        ...(path !== undefined && { path: spelled(path).replace('{parentId}', '{id}') }),
        ...(key in rest.embedded && { embedded: true }),
        ...(relation.nestedWrites && {
          may: { create: wordsIn('create'), update: wordsIn('update') },
          ...(link === undefined && { sets: settableOf(relation.to) }),
        }),
      },
    ]
  })
}

/** What it takes to do what is not offered of each row, as its refusal says it where that is the same for all; with labels for names. */
const needOf = ({ model, verdict }: SeenModel, rule?: Rule, of: Partial<Action> = {}): string => {
  const { when, otherwise } = of
  const refusal =
    typeof otherwise === 'object' &&
    ('title' in otherwise ? otherwise.title : 'message' in otherwise && otherwise.message)
  const state = refusal || (when && `Where ${conditionInWords(when)}`)
  const who = verdict(rule) === 'row' && mayBeDoneBy(rule, model)
  const need = [state && `${state}.`, who].filter(Boolean).join(' ')
  return need.replace(/\b[a-z]+[A-Z]\w*/g, key => worded(key).toLowerCase())
}

const actionsOut = (view: SeenModel, actions: readonly RuledAction[], name: string) =>
  actions.flatMap(action => {
    const { model, version, verdict } = view
    const { about, described, bytes, when, admin: shownAs = {} } = action
    const may = verdict(action.rule)
    const isHere = about === name && isIn(action, version) && bytes === undefined
    if (!isHere || shownAs.hidden || may === 'no') return []
    return [
      {
        name: described.operationId,
        label: shownAs.label ?? described.summary,
        ...{ method: action.method, path: spelled(action.path) },
        input: Object.entries(action.input ?? {}).map(([key, field]) => ({
          ...{ name: key, label: worded(key), set: 'always' },
          ...shapeOf(field),
          ...(field.initial === undefined && { required: true }),
          ...usualOf(field),
        })),
        ...(described.body && !action.input && { body: true }),
        may: when || shownAs.hiddenWhen ? 'row' : may,
        need: shownAs.hiddenWhen ? '' : needOf(view, action.rule, action),
        ...(shownAs.danger && { danger: true }),
        ...(shownAs.bulk === false && { bulk: false }),
        ...(action.answers === name && entityOf(model, name).fields.revision && { guarded: true }),
      },
    ]
  })

/** The whole model as one caller sees it, whose own row has an id, in the newest version of REST. */
export const adminModelOf = ({ model, actions }: Core, viewer: Viewer, id: number | null) => {
  const { viewers, settings } = model
  const view = viewOf(model, viewer)
  const { version, verdict, routes } = view

  const entities = Object.entries(model.entities).flatMap(([name, entity]) => {
    const { policy, rest, admin } = entity
    const own = routes.filter(route => route.entity === name)
    const root = (kind: Route['kind']) => own.some(route => route.kind === kind && !route.below)
    if (!isShownTo(model, name, viewer, own)) return []
    const resource = resourceOf(model, name, version)
    const { nameOf } = resource
    const shown = shownIn(model, name)
    const given = Object.entries(entity.fields)
      .filter(([, field]) => isIn(field, version) && field.scalar !== 'bytes' && isGiven(field))
      .flatMap(([key]) => (shown.includes(key) ? [] : key))
    const parents = own.flatMap(({ kind, below, path }) => {
      if (kind !== 'create' || !below || below.through) return []
      const by = below.field
      return [{ path: spelled(path).replace('{parentId}', `{${by}}`), by }]
    })
    const title = titleOf(model, name)
    const isRead = (key: string) => verdict(entity.fields[key]?.readableBy) === 'yes'
    const isOrdered = admin.order !== undefined && isRead(admin.order.replace('-', ''))
    const can = (kind: 'create' | 'update' | 'delete') =>
      root(kind) || (kind === 'create' && parents.length > 0) ? verdict(policy[kind]) : 'no'
    return [
      {
        name,
        ...{ label: admin.label ?? worded(name), labels: admin.labels ?? worded(entity.plural) },
        path: `/${entity.plural}`,
        ...{ title: title && nameOf(title), columns: admin.columns?.map(nameOf) },
        ...(readableTitleOf(model, name, viewer) !== undefined && { begins: true }),
        ...(isOrdered && { order: admin.order?.replace(/\w+$/, key => nameOf(key)) }),
        ...{ description: entity.description, group: admin.group, hidden: admin.hidden },
        charts: admin.charts?.map(({ group, sum }) => ({
          group: nameOf(group),
          sum: sum && nameOf(sum),
        })),
        may: {
          ...{ list: root('list') ? verdict(policy.enter ?? policy.read) : 'no', one: root('one') },
          ...{ create: can('create'), update: can('update'), delete: can('delete') },
        },
        paging: rest.listing.paging === 'cursor' ? 'cursor' : 'page',
        ...(Object.keys(entity.search).length > 0 && { search: 'search' }),
        bulk: bulkKinds(entity).filter(kind => verdict(policy[kind]) !== 'no'),
        sums: root('aggregate'),
        guarded: entity.fields.revision !== undefined,
        ...(!root('create') && parents.length > 0 && { createAt: parents }),
        filters: Object.entries(resource.filters).flatMap(([param, { kind, field }]) =>
          isRead(field) ? [{ param, kind, field: nameOf(field) }] : [],
        ),
        fields: [...shown, ...given]
          .filter(key => !admin.fields?.[key]?.hidden)
          .map(key => fieldOut(view, name, key)),
        relations: relationsOut(view, name),
        actions: actionsOut(view, actions, name),
        needs: [policy.update, policy.delete].map(rule => needOf(view, rule)),
      },
    ]
  })
  const roles = viewer.role === viewers.roles.superuser ? viewers.roles.names : undefined
  return {
    ...{ version: 1, api: versionPath(version), currency: settings.currency },
    viewer: { entity: viewers.entity, id, role: viewer.role, roles },
    entities,
  }
}
