/** Markdown as HTML, as far as our documents use it: sections, paragraphs, lists, tables, code and links. */
import { html } from 'hono/html'
import { code, table } from '#pages/page.ts'

type MarkdownSection = {
  readonly title: string
  /** Its name in addresses, as GitHub makes it of the title. */
  readonly anchor: string
  readonly blocks: readonly unknown[]
}

/** The blocks of lines with an empty line between; code keeps its own empty lines. */
const blocksOf = (text: string): readonly string[] => {
  const blocks: string[] = []
  let isCode = false
  let isNew = true
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    if (line === '' && !isCode) isNew = true
    else {
      blocks.push(isNew ? line : `${blocks.pop()}\n${line}`)
      isNew = false
    }
  }
  return blocks
}

/** The sections of a document, the first one without a heading of its own; `addressOf` gives where a link leads, undefined if nowhere. */
export const sectionsOf = (
  document: string,
  addressOf: (link: string) => string | undefined,
): readonly MarkdownSection[] => {
  // Code, links and words that stand out; what is between them is text.
  const inline = (text: string) =>
    text.split(/(`[^`]+`|\[[^\]]+\]\([^)\s]+\)|\*\*[^*]+\*\*)/).map((part, index) => {
      if (index % 2 === 0) return part
      if (part.startsWith('`')) return code(part.slice(1, -1))
      if (part.startsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`
      const [, shown = '', link = ''] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? []
      const href = addressOf(link)
      return href === undefined ? shown : html`<a href="${href}">${shown}</a>`
    })
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim())
  const blockOf = (block: string): unknown => {
    const lines = block.split('\n')
    if (block.startsWith('```'))
      return html`<pre><code>${lines.slice(1, -1).join('\n')}</code></pre>\n`
    if (block.startsWith('    '))
      return html`<pre><code>${lines.map(line => line.slice(4)).join('\n')}</code></pre>\n`
    if (block.startsWith('|')) {
      const [head = [], , ...rows] = lines.map(cells)
      return table(
        head,
        rows.map(row => row.map(inline)),
      )
    }
    if (block.startsWith('* '))
      return html`<ul>${block
        .slice(2)
        .split('\n* ')
        .map(item => html`\n<li>${inline(item)}</li>`)}\n</ul>\n`
    return html`<p>${inline(block)}</p>\n`
  }
  return document
    .split(/^#+ /m)
    .slice(1)
    .map(part => {
      const [title = '', ...lines] = part.split('\n')
      const plain = title.toLowerCase().replace(/[^\p{L}\p{N} -]/gu, '')
      const blocks = blocksOf(lines.join('\n')).map(blockOf)
      return { title, anchor: plain.replaceAll(' ', '-'), blocks }
    })
}
