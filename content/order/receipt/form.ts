/** A receipt in JSON, as documents describe it. */

const id = { type: 'integer', minimum: 1 } as const
const text = { type: 'string' } as const
const amount = { type: 'number', minimum: 0 } as const
const time = { type: ['string', 'null'], format: 'date-time' } as const

const object = (properties: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})

/** The body of a receipt, with an example of one. */
export const receiptForm = {
  schema: object({
    number: { ...text, description: 'Such as R-000123.' },
    orderId: id,
    customer: object({ id, name: text, email: { type: ['string', 'null'] } }),
    items: {
      type: 'array',
      items: object({ productId: id, name: text, quantity: id, price: amount }),
    },
    amount,
    currency: { ...text, description: 'ISO 4217 code.' },
    paidAt: time,
    refundedAt: time,
  }),
  example: {
    number: 'R-000001',
    orderId: 1,
    customer: { id: 1, name: 'Ada Okafor', email: 'ada@example.org' },
    items: [{ productId: 1, name: 'Oak desk lamp', quantity: 2, price: 79.9 }],
    amount: 159.8,
    currency: 'USD',
    paidAt: '2026-01-06T09:30:00.000Z',
    refundedAt: null,
  },
}
