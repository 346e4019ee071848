/** The items of a new order, checked: every fault at once, by its path. */
import { isObject } from '#base/object.ts'
import type { FieldFault } from '#errors.ts'
import { invalid } from '#write/input.ts'

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
            productId: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
            quantity: { type: 'integer', minimum: 1, maximum: most.quantity },
          },
        },
      },
    },
  },
  example: { items: [{ productId: 1, quantity: 2 }] },
} as const

const isWhole = (value: unknown, largest: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= largest

const unknownMembers = (
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  at: string,
): readonly FieldFault[] =>
  Object.keys(value)
    .filter(key => !known.includes(key))
    .map(key => ({ field: `${at}${key}`, message: 'is not a member here' }))

const itemFaults = (item: unknown, at: string): readonly FieldFault[] => {
  if (!isObject(item))
    return [{ field: at, message: 'must be an object with productId and quantity' }]
  const faults = [...unknownMembers(item, ['productId', 'quantity'], `${at}.`)]
  if (!isWhole(item.productId, Number.MAX_SAFE_INTEGER))
    faults.push({ field: `${at}.productId`, message: 'must be the id of a product' })
  if (!isWhole(item.quantity, most.quantity))
    faults.push({
      field: `${at}.quantity`,
      message: `must be a whole number from 1 to ${most.quantity}`,
    })
  return faults
}

const repeated = (items: readonly unknown[]): readonly FieldFault[] => {
  const seen = new Set<unknown>()
  return items.flatMap((item, index) => {
    const id = isObject(item) ? item.productId : undefined
    if (typeof id !== 'number' || !seen.has(id)) {
      seen.add(id)
      return []
    }
    return [{ field: `items.${index}.productId`, message: `names product ${id} again` }]
  })
}

/** The items of an order's body; throws `VALIDATION_ERROR` with all its faults. */
export const parseItems = (body: Readonly<Record<string, unknown>>): Items => {
  const faults = [...unknownMembers(body, ['items'], '')]
  const { items } = body
  if (!Array.isArray(items) || items.length < 1 || items.length > most.items)
    faults.push({
      field: 'items',
      message: items === undefined ? 'is required' : `must be a list of 1 to ${most.items} items`,
    })
  else
    faults.push(
      ...items.flatMap((item, index) => itemFaults(item, `items.${index}`)),
      ...repeated(items),
    )
  if (faults.length > 0) throw invalid(faults)
  return items as Items
}
