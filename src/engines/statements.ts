/** The statements of a migration's text, one by one. */

// Comments, texts, names in quotes, bodies between dollar signs, ends of statements, and what is between them.
const pieces = /--[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;|[^-'"$;]+|[\s\S]/g

/** A trigger of SQLite has statements inside, each with a semicolon of its own. */
const isInTrigger = (text: string) =>
  /^\s*create\s+trigger\b[\s\S]*\bbegin\b/i.test(text) && !/;\s*end\s*$/i.test(text)

/** The statements in their order, without comments and the semicolons behind them. */
export const statementsOf = (text: string): readonly string[] => {
  const statements: string[] = []
  let statement = ''
  for (const [piece] of text.matchAll(pieces)) {
    if (piece.startsWith('--')) continue
    if (piece !== ';' || isInTrigger(statement)) {
      statement += piece
      continue
    }
    statements.push(statement.trim())
    statement = ''
  }
  return [...statements, statement.trim()].filter(one => one !== '')
}
