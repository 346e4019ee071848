/** The statements of a migration's text, one by one. */

// Comments, strings, quoted names, dollar-quoted bodies, semicolons, and the text between them.
const pieces = /--[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;|[^-'"$;]+|[\s\S]/g

/** Whether a text ends inside a trigger of SQLite, whose statements have semicolons of their own. */
const isInTrigger = (text: string) =>
  /^\s*create\s+trigger\b[\s\S]*\bbegin\b/i.test(text) && !/;\s*end\s*$/i.test(text)

/** The statements in order, without comments and their final semicolons. */
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
