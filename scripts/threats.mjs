// The threats of test/threats.md and the tests that show what becomes of them: a test's title ends in their numbers, `[A1, B3]`.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = name => readFileSync(`${root}${name}`, 'utf8')

/** What the nightly tests found when they last passed, by file and title, digits apart. */
const figuresFile = 'docs/nightly.json'
const foundLast = () => JSON.parse(read(figuresFile))

/** A test whose figures are the lines of a table in another document. */
const tabled = 'rounds of each kind are done, and are a table'

/** The lines of the table that the test of the cluster found last, below one with their date and seed. */
export const clusterLines = () => {
  const { date, figures } = Object.values(foundLast()).find(({ title }) => title === tabled)
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

const titled = /(['"`])((?:\\.|(?!\1)[^\n\\])*) \[([A-I]\d+(?:, [A-I]\d+)*)\]\1/g
const ending = / \[[A-I]\d+(?:, [A-I]\d+)*\]$/

/** The titles in a test's text that end in numbers of threats, without them, and the numbers. */
export const numbered = text =>
  [...withoutParts(text).matchAll(titled)].map(([, , title, some]) => ({
    title,
    threats: some.split(', '),
  }))

/** The tests of each threat: a map of numbers to files and titles. */
export const testsByThreat = () => {
  const tests = globSync('{src,kit,content,test,admin}/**/*.test.ts', { cwd: root })
    .map(file => file.replaceAll('\\', '/'))
    .sort()
    .flatMap(file =>
      numbered(read(file)).flatMap(({ title, threats }) =>
        threats.map(threat => ({ threat, file, title })),
      ),
    )
  return Map.groupBy(tests, ({ threat }) => threat)
}

const row = /^\* \*\*([A-Z]\d+)\*\* \[?([^[\]\n]*?)(?:\]\(\.\.\/([^)]+)\))?(\. .*)?$/gm

/** The faults of a list of threats, a sentence each: numbers with a gap, one without a test, a test of none. */
export const faultsOf = (text, tests) => {
  const rows = [...text.matchAll(row)].map(([, number, , file]) => ({ number, file }))
  const lines = text.match(/^\* /gm) ?? []
  const known = rows.map(({ number }) => number)
  const next = (number, at) => {
    const before = known[at - 1]
    return before?.[0] === number[0]
      ? `${number[0]}${Number(before.slice(1)) + 1}`
      : `${number[0]}1`
  }
  return [
    ...(lines.length > rows.length ? ['A line is no threat: write `* **A1** What happens`'] : []),
    ...known
      .filter((number, at) => number !== next(number, at))
      .map(number => `${number} is out of order`),
    // Another content may be in the place of this one, and its tests with it.
    ...rows
      .filter(({ number, file }) => !tests.has(number) && !isGone(file))
      .map(({ number }) => `No test's title ends in [${number}]`),
    ...[...tests.keys()]
      .filter(number => !known.includes(number))
      .map(number => `${tests.get(number)[0].file} has a test of ${number}, which is no threat`),
  ]
}

const isGone = (file = '') =>
  file.startsWith('content/test/') && !existsSync(`${root}${dirname(file)}`)

/** The list of threats, each linked to a file of its tests: the one that is linked while it has one, else that with the shortest title. */
export const withTests = (text, tests = testsByThreat()) => {
  const faults = faultsOf(text, tests)
  if (faults.length > 0) throw new Error(`test/threats.md:\n${faults.join('\n')}`)
  return text.replace(row, (line, number, threat, file = '', remark = '') => {
    if (isGone(file)) return line
    const own = tests.get(number)
    const test =
      own.find(one => one.file === file) ??
      own.toSorted((one, other) => one.title.length - other.title.length)[0]
    return `* **${number}** [${threat}](../${test.file})${remark}`
  })
}

/** Writes down what the nightly tests of threats found, out of the stream of their events; gives a function that saves it. */
export const noteFigures = stream => {
  const found = {}
  const last = new Map()
  const placeOf = ({ file, line, column }) => `${file}:${line}:${column}`
  const keyOf = (file, title) => {
    const place = file.slice(root.length).replaceAll('\\', '/')
    return `${place}: ${title.replace(/\d[\d.,]*/g, '…')}`
  }
  stream.on('test:pass', data => {
    const isNoted =
      data.skip === undefined && data.file && (ending.test(data.name) || data.name === tabled)
    const title = data.name.replace(ending, '')
    const key = isNoted ? keyOf(data.file, title) : undefined
    last.set(placeOf(data), key)
    if (key === undefined) return
    const passed = (found[key]?.passed ?? 0) + 1
    const date = new Date().toISOString().slice(0, 10)
    found[key] = { title, date, passed, figures: [] }
  })
  stream.on('test:diagnostic', data => {
    const key = last.get(placeOf(data))
    if (key !== undefined) found[key].figures.push(data.message)
  })
  return () => {
    const all = Object.entries({ ...foundLast(), ...found }).filter(([key]) =>
      existsSync(`${root}${key.split(': ')[0]}`),
    )
    const sorted = Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)))
    writeFileSync(`${root}${figuresFile}`, `${JSON.stringify(sorted, null, 2)}\n`)
  }
}
