/** Text inside of markup. */

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const

/** A text as HTML, SVG or the value of an attribute in quotes. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, character => entities[character as keyof typeof entities])
