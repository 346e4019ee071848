// The lists of docs/reliability.md: each threat with a test of those that show what becomes of it; all of them must be there.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kinds, threats } from './reliability-rows/index.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = name => readFileSync(`${root}${name}`, 'utf8')

/** What the nightly tests found when they last passed, by `file: title`. */
const figuresFile = 'docs/nightly.json'
const foundLast = () => JSON.parse(read(figuresFile))

const rows = Object.values(threats).flat()

/** Tests whose figures are the lines of a table in another document. */
const tabled = [
  'content/test/nightly/cluster.test.ts: rounds of each kind are done, and are a table',
]

/** The lines of the table that a test found last, below one with their date and seed. */
export const linesOf = title => {
  const test = tabled.find(one => one.endsWith(`: ${title}`))
  const { date, figures } = foundLast()[test]
  const [seed, ...lines] = figures
  return [`Found on ${date}, \`${seed}\`:`, '', ...lines]
}

/** A text of code in which `…` stands for each generated part of a template. */
const withoutParts = text => {
  let shown = ''
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text.startsWith('${', at)) {
      if (depth++ === 0) shown += '…'
      at++
    } else if (depth === 0) shown += text[at]
    else if (text[at] === '{') depth++
    else if (text[at] === '}') depth--
  }
  return shown
}

/** Whether a test is of the content of the specification and went with it, as another content is in its place. */
const isGone = test => {
  const [file] = test.split(': ')
  return file.startsWith('content/test/') && !existsSync(`${root}${dirname(file)}`)
}

/** The text of a file; undefined where there is none. */
const readIfThere = file => (existsSync(`${root}${file}`) ? read(file) : undefined)

const isIn = (text, title) =>
  ["'", '"', '`'].some(quote => text.includes(`${quote}${title}${quote}`))

/** The faults of rows, a sentence each: a test that is not there, a row that nothing stands behind. */
export const faultsOf = (some, textOf) => {
  const texts = new Map()
  const knownIn = file => texts.getOrInsertComputed(file, () => withoutParts(textOf(file) ?? ''))
  return some.flatMap(([row, , tests, remark = '']) => [
    ...tests
      .filter(test => !isGone(test))
      .map(test => test.split(/: (.*)/s))
      .filter(([file, title]) => !isIn(knownIn(file), title))
      .map(([file, title]) => `${row} names a test that ${file} has not: ${title}`),
    ...(tests.length === 0 && kindOf(remark) === undefined
      ? [`${row} has no test: begin its remark with ${Object.keys(kinds).join(' or ')}`]
      : []),
  ])
}

const kindOf = (remark = '') => Object.keys(kinds).find(kind => remark.startsWith(kind))

const numbersOf = some => some.map(([row]) => row).join(' ')
const inOrder = some => some.map((_, at) => `${some[0][0][0]}${at + 1}`).join(' ')

const check = () => {
  const faults = faultsOf(rows, readIfThere)
  for (const some of Object.values(threats))
    if (numbersOf(some) !== inOrder(some))
      faults.push(`The rows ${numbersOf(some)} are not in order without a gap`)
  if (faults.length > 0) throw new Error(`Mend scripts/reliability-rows/:\n${faults.join('\n')}`)
}

/** The shorter title of the first two tests of a row, which tell the most. */
const shownBy = (tests, found) => {
  const [{ file, title, gone }] = tests
    .slice(0, 2)
    .map(test => {
      const [file, title] = test.split(/: (.*)/s)
      return { file, title: found[test]?.title ?? title, gone: isGone(test) }
    })
    .sort((one, other) => one.title.length - other.title.length)
  if (gone) return title
  return `[${title.replace(/[[\]]/g, '\\$&')}](../${file})`
}

/** The number, threat and proof of each row of a part; throws where a row names a test that is no longer there. */
export const threatCells = part => {
  check()
  const found = foundLast()
  return threats[part].map(([row, threat, tests, remark = '']) => [
    row,
    threat,
    [tests.length > 0 && shownBy(tests, found), kindOf(remark) && remark]
      .filter(Boolean)
      .join('. '),
  ])
}

/** How many threats are shown by tests, and how many are not, in one sentence. */
export const threatsInWords = () => {
  const count = kind => rows.filter(([, , , remark]) => kindOf(remark) === kind).length
  const others = Object.entries(kinds).map(([kind, words]) => `${count(kind)} ${words}`)
  return `Of ${rows.length} threats ${count(undefined)} are shown by the tests that are named, ${others.join(', ')}.`
}

/** Writes down what the nightly tests found that the lists name, out of the stream of their events; gives a function that saves it. */
export const noteFigures = stream => {
  const named = new Set([...tabled, ...rows.flatMap(([, , tests]) => tests)])
  const keyOf = ({ file, name }) => {
    const place = file.slice(root.length).replaceAll('\\', '/')
    return [...named].find(test => {
      const [of, title] = test.split(/: (.*)/s)
      return (
        of === place && new RegExp(`^${title.split('…').map(RegExp.escape).join('.+')}$`).test(name)
      )
    })
  }
  const found = {}
  const last = new Map()
  const placeOf = ({ file, line, column }) => `${file}:${line}:${column}`
  stream.on('test:pass', data => {
    const key = data.skip === undefined && data.file ? keyOf(data) : undefined
    last.set(placeOf(data), key)
    if (key === undefined) return
    const passed = (found[key]?.passed ?? 0) + 1
    const date = new Date().toISOString().slice(0, 10)
    found[key] = { title: data.name, date, passed, figures: [] }
  })
  stream.on('test:diagnostic', data => {
    const key = last.get(placeOf(data))
    if (key !== undefined) found[key].figures.push(data.message)
  })
  return () => {
    const all = Object.entries({ ...foundLast(), ...found }).filter(([key]) => named.has(key))
    const sorted = Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)))
    writeFileSync(`${root}${figuresFile}`, `${JSON.stringify(sorted, null, 2)}\n`)
  }
}
