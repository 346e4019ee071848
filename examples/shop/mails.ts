/** What customers are mailed of their orders. In development it is shown in the terminal. */
import type { Services } from 'duet/actions'

/** What the outbox keeps of an order for its mail. */
export const mailed = ['pieces', 'product.name', 'customer.name', 'customer.email'] as const

type Row = Readonly<Record<string, unknown>>

const mailOf =
  (subject: string, said: string) =>
  (row: Row, { mail, publicUrl }: Services, signal: AbortSignal): Promise<void> =>
    mail.send(
      {
        to: { name: String(row['customer.name']), address: String(row['customer.email']) },
        subject,
        text: `${said}: ${row.pieces} × ${row['product.name']}\n\n${publicUrl()}/api/orders/${row.id}\n`,
      },
      signal,
    )

export const thanks = mailOf('Thank you for your order', 'You ordered')
export const regrets = mailOf('Your order is cancelled', 'You cancelled')
