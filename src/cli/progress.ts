/** A progress line on a terminal; nothing in a log file. */

export type Progress = { readonly step: (count?: number) => void; readonly done: () => void }

const width = 28

/** Counts towards `total` (unknown: undefined) under a label, on standard error. */
export const progress = (label: string, total?: number): Progress => {
  const isShown = process.stderr.isTTY === true
  let count = 0
  let shownAt = 0
  const draw = () => {
    const share = total ? count / total : 0
    const bar = total
      ? `[${'#'.repeat(Math.round(share * width)).padEnd(width, '.')}] ${Math.floor(share * 100)}%`
      : ''
    process.stderr.write(
      `\r${label} ${bar} ${count.toLocaleString('en')}${total ? ` of ${total.toLocaleString('en')}` : ''} `,
    )
  }
  return {
    step: (by = 1) => {
      count += by
      if (!isShown || performance.now() - shownAt < 100) return
      shownAt = performance.now()
      draw()
    },
    done: () => {
      if (!isShown) return void process.stderr.write(`${label} ${count.toLocaleString('en')}\n`)
      draw()
      process.stderr.write('\n')
    },
  }
}
