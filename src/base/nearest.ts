/** Finds the known name nearest to a misspelt one. */

/** How many letters must be changed, added or removed to turn one text into another (Levenshtein). */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...from].entries())
    row = row.reduce<number[]>((next, above, column) => {
      const left = next[column - 1]
      const diagonal = (row[column - 1] ?? 0) + (to[column - 1] === letter ? 0 : 1)
      next.push(left === undefined ? index + 1 : Math.min(above + 1, left + 1, diagonal))
      return next
    }, [])
  return row.at(-1) ?? 0
}

/** The known name at most two letters from this one, in a name of two or three letters one; undefined where there is none. */
export const nearest = (name: string, known: readonly string[]): string | undefined => {
  // In a short name two changed letters leave too little of what was meant.
  const most = Math.min(2, Math.floor(name.length / 2))
  const [near] = known
    .filter(text => Math.abs(text.length - name.length) <= most)
    .map(text => ({ text, far: distance(text, name) }))
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far)
  return near?.text
}
