/** What the admin must know of a content beside its documents: kinds, labels, relations, and what a caller may do. Plain JSON. */

import { versionPath } from '#base/paths.ts'
import { operatorsOf } from '#model/condition.ts'
import type { Entity } from '#model/entity.ts'
import { type Field, isDerived, longest } from '#model/field.ts'
import { entityOf, type Model, typeName } from '#model/model.ts'
import { linkOf } from '#model/names.ts'
import { bulkKinds, partRelations } from '#model/parts.ts'
import { judge, nobody, type Rule, type Viewer } from '#model/policy.ts'
import { resourceOf } from '#model/resource.ts'
import { isIn } from '#model/version.ts'
import { type Route, routesOf } from '#rest/routes.ts'
import { isSortable } from '#rest/sort.ts'
import { askableMembers } from '#rest/where.ts'
import type { Action } from '#write/action.ts'

type Allowance = 'yes' | 'no' | 'row'

/** `createdAt` as people read it: `Created at`. */
const worded = (name: string): string => {
  const words = name
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

/** The fields that the newest version of REST shows. */
const shownIn = (model: Model, name: string): readonly string[] =>
  resourceOf(model, name, model.versions.newest).members.flatMap(member =>
    member.kind === 'field' ? [member.field] : [],
  )

/** The member that names a row to people: what the author says, else the first short text. */
const titleOf = (model: Model, name: string): string | undefined => {
  const { fields, admin } = entityOf(model, name)
  const shown = shownIn(model, name)
  const keys = Object.keys(fields).filter(key => shown.includes(key))
  return (
    keys.find(key => key === admin.title) ??
    keys.find(key => fields[key]?.scalar === 'text' && /^(name|title|label)$/.test(key)) ??
    keys.find(key => {
      const { scalar, values, foldedFrom, format, settableBy } = fields[key] as Field
      return (
        scalar === 'text' &&
        !values &&
        foldedFrom === undefined &&
        !format &&
        settableBy.kind !== 'nobody'
      )
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
export const isShownTo = (model: Model, name: string, viewer: Viewer): boolean => {
  const { policy } = entityOf(model, name)
  return (
    judge(policy.enter ?? policy.read ?? nobody, viewer, model) !== 'no' &&
    routesOf(model).some(
      ({ entity, kind, below, lifetime }) =>
        entity === name &&
        (kind === 'list' || (kind === 'one' && !below)) &&
        isIn(lifetime, model.versions.newest),
    )
  )
}

/** A model as one caller sees it: its routes in the newest version of REST, and what the rules say. */
const viewOf = (model: Model, viewer: Viewer) => {
  const version = model.versions.newest
  const verdict = (rule: Rule | undefined): Allowance => judge(rule ?? nobody, viewer, model)
  const routes = routesOf(model).filter(({ lifetime }) => isIn(lifetime, version))

  /** Whether a caller may give a field, in some row. */
  const settable = ({ fields }: Entity, key: string): Allowance => {
    const field = fields[key] as Field
    const isGiven =
      field.settableBy.kind !== 'nobody' && !isDerived(field) && !field.touched && key !== 'id'
    return isGiven ? verdict(field.settableBy) : 'no'
  }
  const settableOf = (name: string): readonly string[] => {
    const entity = entityOf(model, name)
    const { nameOf } = resourceOf(model, name, version)
    return Object.keys(entity.fields)
      .filter(key => settable(entity, key) !== 'no')
      .map(nameOf)
  }

  return { model, viewer, version, verdict, routes, settable, settableOf }
}

type SeenModel = ReturnType<typeof viewOf>

const spelled = (path: string) => path.replace(/:(\w+)/g, '{$1}')

const fieldOut = (
  { model, version, settable }: SeenModel,
  name: string,
  key: string,
  entity: Entity,
) => {
  const field = entity.fields[key] as Field
  const resource = resourceOf(model, name, version)
  const mayGive = settable(entity, key)
  const asked = [...askableMembers(model, resource).values()].includes(key)
  return {
    name: resource.nameOf(key),
    label: entity.admin.fields?.[key]?.label ?? worded(key.replace(/Id$/, '')),
    ...(field.description && { description: field.description }),
    kind: kindOf(field),
    ...(field.references && { to: field.references.entity }),
    ...(field.values && { of: field.values }),
    ...(field.file && { accept: field.file.accept.join() }),
    ...(field.items && { items: kindOf(field.items) }),
    ...(field.range && { min: field.range.min, max: field.range.max }),
    ...(field.scale > 0 && { scale: field.scale }),
    ...(field.pattern && { pattern: field.pattern.source }),
    ...(field.nullable && { nullable: true }),
    ...(field.initial === undefined && mayGive !== 'no' && { required: true }),
    ...(typeof field.initial === 'object' &&
    'value' in field.initial &&
    field.initial.value !== null &&
    field.scalar !== 'flag' &&
    (field.values || field.scalar === 'int')
      ? { initial: field.initial.value }
      : {}),
    set: mayGive === 'no' ? 'never' : field.immutable ? 'create' : 'always',
    ...(field.rest && isSortable(entity, key) && longest(field) === 0 && { sort: true }),
    ...(asked && { where: operatorsOf(entity, key) }),
    ...(!field.rest && { hidden: true }),
    ...(entity.admin.fields?.[key]?.place && { place: entity.admin.fields[key].place }),
  }
}

const relationsOut = (
  { model, routes, settableOf }: SeenModel,
  name: string,
  { relations, rest }: Entity,
) =>
  Object.entries(relations).flatMap(([key, relation]) => {
    if (relation.kind === 'one')
      return [{ name: key, label: worded(key), kind: 'one', to: relation.to, by: relation.by }]
    const link = relation.through === undefined ? undefined : linkOf(model.entities, name, relation)
    const may = Object.fromEntries(
      (['create', 'update'] as const).map(mode => [
        mode,
        partRelations(model, name, mode).find(part => part.key === key)?.words ?? [],
      ]),
    )
    const path = routes.find(
      route =>
        route.kind === 'list' && route.below?.entity === name && route.path.endsWith(`/${key}`),
    )?.path
    if (path === undefined && !(key in rest.embedded)) return []
    return [
      {
        name: key,
        label: worded(key),
        kind: relation.nestedWrites ? (link ? 'links' : 'nested') : 'rows',
        to: relation.to,
        by: link?.by ?? relation.by,
        ...(path !== undefined && { path: spelled(path).replace('{parentId}', '{id}') }),
        ...(key in rest.embedded && { embedded: true }),
        ...(relation.nestedWrites && {
          may,
          ...(link === undefined && { sets: settableOf(relation.to) }),
        }),
      },
    ]
  })

const actionsOut = (
  { version, verdict }: SeenModel,
  actions: readonly Action[],
  name: string,
  { fields }: Entity,
) =>
  actions
    .filter(
      action =>
        action.about === name &&
        isIn(action, version) &&
        action.bytes === undefined &&
        !action.admin?.hidden,
    )
    .flatMap(action => {
      const may = verdict(action.rule)
      if (may === 'no') return []
      const { operationId, summary, body } = action.described
      return [
        {
          name: operationId,
          label: action.admin?.label ?? summary,
          method: action.method,
          path: spelled(action.path),
          input: Object.entries(action.input ?? {}).map(([key, field]) => ({
            name: key,
            label: worded(key),
            kind: kindOf(field),
            set: 'always',
            ...(field.values && { of: field.values }),
            ...(field.nullable && { nullable: true }),
          })),
          ...(body && !action.input && { body: true }),
          may: action.when || action.admin?.hiddenWhen ? 'row' : may,
          ...(action.admin?.danger && { danger: true }),
          ...(action.admin?.bulk === false && { bulk: false }),
          ...(action.answers === name && fields.revision && { guarded: true }),
        },
      ]
    })

/** The whole model as one caller sees it, in the newest version of REST. */
export const adminModelOf = (model: Model, actions: readonly Action[], viewer: Viewer) => {
  const { viewers, settings } = model
  const view = viewOf(model, viewer)
  const { version, verdict, routes } = view

  const entities = Object.entries(model.entities).flatMap(([name, entity]) => {
    const { policy, rest, admin } = entity
    const own = routes.filter(route => route.entity === name)
    const root = (kind: Route['kind']) => own.some(route => route.kind === kind && !route.below)
    const read = verdict(policy.enter ?? policy.read)
    if (!isShownTo(model, name, viewer)) return []
    const resource = resourceOf(model, name, version)
    const shown = shownIn(model, name)
    const given = Object.keys(entity.fields).filter(key => {
      const field = entity.fields[key] as Field
      return (
        !shown.includes(key) &&
        field.settableBy.kind !== 'nobody' &&
        !isDerived(field) &&
        isIn(field, version) &&
        field.scalar !== 'bytes'
      )
    })
    const parents = own.flatMap(route =>
      route.kind === 'create' && route.below && !route.below.through
        ? [
            {
              path: spelled(route.path).replace('{parentId}', `{${route.below.field}}`),
              by: route.below.field,
              entity: route.below.entity,
            },
          ]
        : [],
    )
    const title = titleOf(model, name)
    const can = (kind: 'create' | 'update' | 'delete') =>
      root(kind) || (kind === 'create' && parents.length > 0) ? verdict(policy[kind]) : 'no'
    return [
      {
        name,
        label: admin.label ?? worded(name),
        labels: admin.labels ?? worded(entity.plural),
        ...(entity.description && { description: entity.description }),
        path: `/${entity.plural}`,
        ...(title !== undefined && { title: resource.nameOf(title) }),
        ...(readableTitleOf(model, name, viewer) !== undefined && { begins: true }),
        ...(admin.columns && { columns: admin.columns.map(resource.nameOf) }),
        ...(admin.order && {
          order: admin.order.replace(/\w+$/, key => resource.nameOf(key)),
        }),
        ...(admin.group !== undefined && { group: admin.group }),
        ...(admin.hidden && { hidden: true }),
        ...(admin.charts && {
          charts: admin.charts.map(({ group, sum }) => ({
            group: resource.nameOf(group),
            ...(sum !== undefined && { sum: resource.nameOf(sum) }),
          })),
        }),
        may: {
          list: root('list') ? read : 'no',
          one: root('one'),
          create: can('create'),
          update: can('update'),
          delete: can('delete'),
        },
        paging: rest.listing.paging === 'cursor' ? 'cursor' : 'page',
        ...(Object.keys(entity.search).length > 0 && { search: 'search' }),
        bulk: bulkKinds(entity).filter(kind => verdict(policy[kind]) !== 'no'),
        sums: root('aggregate'),
        guarded: entity.fields.revision !== undefined,
        ...(!root('create') && parents.length > 0 && { createAt: parents }),
        filters: Object.entries(resource.filters).map(([param, { kind, field }]) => ({
          param,
          kind,
          field: resource.nameOf(field),
        })),
        fields: [...shown, ...given]
          .filter(key => !admin.fields?.[key]?.hidden)
          .map(key => fieldOut(view, name, key, entity)),
        relations: relationsOut(view, name, entity),
        actions: actionsOut(view, actions, name, entity),
      },
    ]
  })
  return {
    version: 1,
    api: versionPath(version),
    currency: settings.currency,
    viewer: {
      ...{ id: viewer.id, role: viewer.role },
      ...(viewer.role === viewers.roles.superuser && { isSuperuser: true }),
      ...(viewers.entity && { entity: viewers.entity }),
    },
    entities: entities.map(entity => ({ ...entity, type: typeName(entity.name) })),
  }
}
