/** The receipt as a page: read on a screen, printed on a sheet. */
import { hash } from 'node:crypto'
import { html, raw } from 'duet/actions'
import { formatMinor, parseMinor } from 'duet/routes'

/** A receipt in JSON, with the digits of each number. */
type Receipt = {
  readonly number: string
  readonly orderId: string
  readonly customer: { readonly name: string; readonly email: string | null } | null
  readonly items: readonly {
    readonly productId: string
    readonly name: string
    readonly quantity: string
    readonly price: string
  }[]
  readonly amount: string
  readonly currency: string
  readonly paidAt: string | null
  readonly refundedAt: string | null
}

const styles = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1rem; background: #eef1f5; color: #1b2430; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 2.5rem; background: #fff; border-radius: 10px; box-shadow: 0 1px 3px #1b243026, 0 8px 24px #1b243014; }
header { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: flex-start; gap: 1rem; padding-bottom: 1.5rem; border-bottom: 2px solid #1b2430; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.02em; }
.number { margin: 0.25rem 0 0; color: #566275; font-variant-numeric: tabular-nums; }
.state { padding: 0.25rem 0.8rem; border-radius: 99px; border: 1px solid; font-weight: 600; font-size: 0.875rem; }
.paid { color: #11623b; background: #e5f5ec; }
.refunded { color: #8a4b08; background: #fdf1df; }
dl { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 1rem 2rem; margin: 1.5rem 0 2rem; }
dt { color: #566275; font-size: 0.8125rem; }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { padding: 0.5rem 0; border-bottom: 1px solid #c5ccd6; color: #566275; font-size: 0.8125rem; font-weight: 600; text-align: left; }
td { padding: 0.6rem 0; border-bottom: 1px solid #e6eaef; vertical-align: top; overflow-wrap: anywhere; }
th:not(:first-child), td:not(:first-child) { padding-left: 1rem; text-align: right; white-space: nowrap; }
tfoot th, tfoot td { padding-top: 0.9rem; border: 0; color: #1b2430; font-size: 1.125rem; font-weight: 700; text-align: right; }
tfoot th { text-align: left !important; }
tfoot .back th, tfoot .back td { padding-top: 0; color: #8a4b08; font-size: 1rem; font-weight: 600; }
footer { margin-top: 2rem; color: #566275; font-size: 0.8125rem; }
@media (max-width: 34rem) { body { padding: 0; } main { padding: 1.5rem 1rem; border-radius: 0; } }
@page { margin: 18mm; }
@media print {
  body { padding: 0; background: #fff; font-size: 11pt; }
  main { max-width: none; padding: 0; box-shadow: none; }
  thead { display: table-header-group; }
  tr, footer { break-inside: avoid; }
}
`

/** The page may show its own styles and nothing else: no script, no picture, no frame around it. */
export const receiptPolicy = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash('sha256', styles, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
}

// Made when the first receipt is shown: each takes as long as a page.
const makeFormats = () => ({
  day: new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }),
  hour: new Intl.DateTimeFormat('en', { timeStyle: 'short', hourCycle: 'h23', timeZone: 'UTC' }),
  count: new Intl.NumberFormat('en'),
})
let formats: ReturnType<typeof makeFormats> | undefined

/** A moment on two lines, as the customer beside it is. */
const time = (at: string, { day, hour }: ReturnType<typeof makeFormats>) =>
  html`<time datetime="${at}">${day.format(Date.parse(at))}<br>${hour.format(Date.parse(at))} UTC</time>`

/** The whole page for the JSON text of a receipt; all that callers wrote is escaped by the template. */
export const receiptPage = (text: string, digits: number): string => {
  // Each number as its digits, since a float cannot hold every amount; `Intl` takes them as they are.
  const exact = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? context?.source : value
  const receipt = JSON.parse(text, exact) as Receipt
  formats ??= makeFormats()
  const { count } = formats
  const { number, orderId, customer, items, amount, currency, paidAt, refundedAt } = receipt
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, ...decimals })
  const money = (decimal: string) => format.format(decimal as Intl.StringNumericLiteral)
  const state = refundedAt === null ? 'paid' : 'refunded'
  const rows = items.map(({ name, quantity, price }) => {
    const line = (parseMinor(price, digits)?.minor ?? 0n) * BigInt(quantity)
    return html`<tr>
<td>${name}</td>
<td>${count.format(BigInt(quantity))}</td>
<td>${money(price)}</td>
<td>${money(formatMinor(line, digits))}</td>
</tr>
`
  })
  const back = html`<tr class="back"><th scope="row" colspan="3">Refunded</th><td>${money(`-${amount}`)}</td></tr>
`
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Receipt ${number}</title>
<style>${raw(styles)}</style>
</head>
<body>
<main>
<header>
<div>
<h1>Receipt</h1>
<p class="number">${number}</p>
</div>
<span class="state ${state}">${state === 'paid' ? 'Paid' : 'Refunded'}</span>
</header>
<dl>
${customer && html`<div><dt>Customer</dt><dd>${customer.name}${customer.email && html`<br>${customer.email}`}</dd></div>`}
<div><dt>Order</dt><dd>${orderId}</dd></div>
${paidAt && html`<div><dt>Paid on</dt><dd>${time(paidAt, formats)}</dd></div>`}
${refundedAt && html`<div><dt>Refunded on</dt><dd>${time(refundedAt, formats)}</dd></div>`}
</dl>
<table>
<thead>
<tr><th scope="col">Item</th><th scope="col">Quantity</th><th scope="col">Price</th><th scope="col">Amount</th></tr>
</thead>
<tbody>
${rows}</tbody>
<tfoot>
<tr><th scope="row" colspan="3">Total</th><td>${money(amount)}</td></tr>
${refundedAt && back}</tfoot>
</table>
<footer>All amounts are in ${currency}.</footer>
</main>
</body>
</html>
`)
}
