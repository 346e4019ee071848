/** The filters of a list root: their arguments as stored values. */
import { type FieldNode, GraphQLError } from 'graphql'
import { GraphqlErrors } from '#graphql/document.ts'
import type { Entity } from '#model/entity.ts'
import { comparedWith } from '#model/equal.ts'
import { fieldOf, type Model } from '#model/model.ts'
import type { Value } from '#read/selection.ts'

/** The stored value that a filter's argument stands for; throws BAD_USER_INPUT where it has not the form of the field. */
export const filterValue = (
  model: Model,
  entity: Entity,
  node: FieldNode,
  name: string,
  given: unknown,
): Value => {
  const { scalar } = fieldOf(entity, name)
  // A number beyond 32 bits comes as a Float, which a document may write as 1e10.
  const text = String(scalar === 'int' ? Number(given) : given)
  const compared = comparedWith(scalar, text, model.settings.currency.digits)
  if ('value' in compared) return compared.value
  const argument = node.arguments?.find(argument => argument.name.value === name)
  throw new GraphqlErrors('BAD_USER_INPUT', [
    new GraphQLError(`Argument "${name}" ${compared.fault}.`, { nodes: argument?.value }),
  ])
}
