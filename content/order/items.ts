/** The items of a new order, checked: every fault at once, by its path. */

import {
  type Check,
  checkMembers,
  type FieldFault,
  invalid,
  isObject,
  type JsonObject,
} from 'duet/actions'

export type Items = readonly { readonly productId: number; readonly quantity: number }[]

const most = { items: 100, quantity: 1000 }

/** The body of a new order, as documents describe it. */
export const itemsBody = {
  schema: {
    type: 'object',
    required: ['items'],
    properties: {
      items: {
        type: 'array',
        minItems: 1,
        maxItems: most.items,
        description: 'What is ordered; no product twice.',
        items: {
          type: 'object',
          required: ['productId', 'quantity'],
          properties: {
            productId: {
              type: 'integer',
              format: 'int64',
              minimum: 1,
              maximum: Number.MAX_SAFE_INTEGER,
            },
            quantity: { type: 'integer', minimum: 1, maximum: most.quantity },
          },
        },
      },
    },
  },
  example: { items: [{ productId: 1, quantity: 2 }] },
} as const

const whole =
  (largest: number, fault: string): Check<number> =>
  given =>
    Number.isSafeInteger(given) && Number(given) >= 1 && Number(given) <= largest
      ? { value: Number(given) }
      : { fault }

const itemMembers = {
  productId: whole(Number.MAX_SAFE_INTEGER, 'must be the id of a product'),
  quantity: whole(most.quantity, `must be a whole number from 1 to ${most.quantity}`),
}

/** The check of the list of items, whatever they are. */
export const listMember: Check<readonly unknown[]> = given => {
  if (given === undefined) return { fault: 'is required' }
  return Array.isArray(given) && given.length >= 1 && given.length <= most.items
    ? { value: given }
    : { fault: `must be a list of 1 to ${most.items} items` }
}

/** The fault of an item that is no object. */
export const noItem = 'must be an object with productId and quantity'

/** The faults of items that name the product of an earlier one, by the products of all of them. */
export const repeated = (products: readonly unknown[]): readonly FieldFault[] =>
  products.flatMap((id, index) =>
    typeof id !== 'number' || products.indexOf(id) === index
      ? []
      : [{ field: `items.${index}.productId`, message: `names product ${id} again` }],
  )

/** The items of an order's body; throws `VALIDATION_ERROR` with all its faults. */
export const parseItems = (body: JsonObject): Items => {
  const { values, faults } = checkMembers(body, { items: listMember })
  const { items = [] } = values
  for (const [index, item] of items.entries()) {
    const at = `items.${index}`
    if (isObject(item)) faults.push(...checkMembers(item, itemMembers, `${at}.`).faults)
    else faults.push({ field: at, message: noItem })
  }
  faults.push(...repeated(items.map(item => (isObject(item) ? item.productId : undefined))))
  if (faults.length > 0) throw invalid(faults)
  return items as Items
}
