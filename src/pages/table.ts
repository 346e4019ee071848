/** Tables of the pages for people. */
import { html } from 'hono/html'

/** A table whose rows begin with their heading; on narrow screens each cell stands below its heading. */
export const table = (head: readonly string[], rows: readonly (readonly unknown[])[]) =>
  html`<div class="table" tabindex="0"><table>
<thead><tr>${head.map(text => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map(
    ([first, ...cells]) =>
      html`\n<tr><th scope="row">${first}</th>${cells.map((cell, index) => html`<td data-head="${head[index + 1] ?? ''}">${cell}</td>`)}</tr>`,
  )}
</tbody>
</table></div>`

/** A text of code in a cell or a sentence. */
export const code = (text: string) => html`<code>${text}</code>`
