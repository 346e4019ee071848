// What a test run shows: in a terminal a line that moves, elsewhere a line for each file; each failure at once and again at the end, and then the numbers.
import { resolve } from 'node:path'
import { inspect, stripVTControlCharacters, styleText } from 'node:util'

const out = process.stdout

const inTime = seconds => {
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`

const indented = text => text.replace(/^(?=.)/gm, '    ')

/** A word of a command line, as a shell reads it. */
const quoted = word => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** Why a test failed, without the frames that are not the test's. */
const reasonOf = error => {
  const { cause = error } = error
  // What an assertion compared stands in its message.
  const text = cause?.code === 'ERR_ASSERTION' ? cause.stack : inspect(cause, { depth: 6 })
  const isForeign = line => /^\s+at .*(\(node:|\/scripts\/test-)/.test(line)
  return stripVTControlCharacters(text)
    .split('\n')
    .filter(line => !isForeign(line))
    .join('\n')
}

/** How a process ended that failed. */
const howOf = ({ signal, exitCode, cause }) => {
  if (signal) return `by ${signal}`
  return exitCode === undefined ? `by ${cause?.message ?? cause}` : `with the exit code ${exitCode}`
}

/**
 * Shows a run of these processes, each with its `engine`, `program` and `files`. `follow` takes the events of an
 * engine, `end` says what remains and gives how many tests passed, failed and were skipped. `shareOf` tells how
 * much of the whole a file takes; a file without a test has failed unless a pattern chose from them; a quiet report leaves the tests to another reporter, and prints what that cannot know.
 */
export const createReport = ({ programs, command, shareOf, isChosen, isQuiet }) => {
  const moves = out.isTTY === true && !isQuiet
  const coloured = (style, text) => (moves ? styleText(style, text) : text)
  const files = programs.flatMap(({ engine, files }) => files.map(file => ({ engine, file })))
  const isOnBoth = ({ file }) => files.filter(one => one.file === file).length > 1
  const sharesOf = some => some.reduce((sum, { engine, file }) => sum + shareOf(engine, file), 0)
  const whole = sharesOf(files)
  const begun = performance.now()
  const elapsed = () => (performance.now() - begun) / 1000

  const took = []
  const failures = []
  const skips = new Map()
  let passed = 0

  const movingLine = () => {
    const share = sharesOf(took) / whole
    const left =
      share > 0.03 && share < 1 ? [`about ${inTime(elapsed() / share - elapsed())} left`] : []
    const done = `${took.length} of ${counted(files.length, 'file')}`
    const words = [done, inTime(elapsed()), ...left, `${failures.length} failed`]
    const line = words.join(' · ').slice(0, (out.columns || 80) - 1)
    return coloured(failures.length > 0 ? 'red' : 'dim', line)
  }
  const draw = () => {
    if (moves) out.write(`\r\x1b[2K${movingLine()}`)
  }
  /** Prints lines above the one that moves. */
  const print = text => {
    if (isQuiet) return
    out.write(`${moves ? '\r\x1b[2K' : ''}${text}\n`)
    draw()
  }
  const timer = moves ? setInterval(draw, 1000) : undefined

  const commandFor = (one, name) => {
    const store = isOnBoth(one) ? `DUET_TEST_STORE=${one.engine} ` : ''
    const script = command === 'test:nightly' ? `run ${command}` : 'test'
    const pattern = name?.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const only = pattern ? ` --test-name-pattern=${quoted(pattern)}` : ''
    return `${store}npm ${script} -- ${quoted(one.file)}${only}`
  }
  const titleOf = ({ engine, file }, names = []) => [`${file} (${engine})`, ...names].join(' › ')
  const fail = (one, names, reason, place) => {
    const title = coloured('red', `✖ ${titleOf(one, names)}`)
    const text = `${title}\n${indented(`${reason}\nalone: ${commandFor(one, names.at(-1))}`)}`
    failures.push({ text, place, notes: [] })
    print(text)
  }
  const skip = (reason, title) => {
    skips.set(reason, [...(skips.get(reason) ?? []), title])
  }

  const left = new Map(programs.map(one => [one, new Set(one.files)]))
  const ends = new Map()
  const lastWords = new Map()
  const placeOf = ({ file, line, column }) => `${file}:${line}:${column}`

  /** Counts what the processes of an engine tell: each file is a suite in one of them. */
  const follow = (engine, stream) => {
    const own = new Map(
      programs.filter(one => one.engine === engine).map(one => [one.program, one]),
    )
    const enqueued = new Map()
    /** The names of the suites around a test, from the file on, and its own. */
    const namesOf = (program, id) => {
      const { name, parentId } = enqueued.get(`${program} ${id}`) ?? {}
      return name === undefined ? [] : [...namesOf(program, parentId), name]
    }
    const counts = new Map()

    stream.on('test:enqueue', ({ entryFile, testId, name, parentId }) =>
      enqueued.set(`${entryFile} ${testId}`, { name, parentId }),
    )
    stream.on('test:complete', data => {
      const { entryFile, testId, nesting, details, todo } = data
      const process = own.get(entryFile)
      const [file, ...names] = namesOf(entryFile, testId)
      // The process itself is told of by test:fail.
      if (process === undefined || file === undefined) return
      const one = { engine, file }
      const count = counts.get(file) ?? { tests: 0, failed: 0, skipped: 0 }
      counts.set(file, count)
      const isTest = details.type !== 'suite'
      if (isTest) count.tests++
      const isWell = details.passed || todo !== undefined
      const isWithoutReason = data.skip === true || data.skip === ''
      if (isWithoutReason) {
        count.failed++
        fail(one, names, 'It is skipped and does not say why: skip: "the reason"', placeOf(data))
      } else if (data.skip !== undefined) {
        count.skipped++
        skip(data.skip, titleOf(one, names))
      } else if (isWell && isTest) passed++
      else if (!isWell && details.error?.failureType !== 'subtestsFailed') {
        count.failed++
        fail(one, names, reasonOf(details.error), placeOf(data))
      }
      if (nesting > 0 || !left.get(process).delete(file)) return
      if (count.tests + count.failed + count.skipped === 0 && !isChosen) {
        count.failed++
        fail(one, [], 'It ended without a test.', placeOf(data))
      }
      const seconds = details.duration_ms / 1000
      took.push({ ...one, seconds })
      if (moves) return draw()
      const failed = count.failed > 0 ? `, ${count.failed} failed` : ''
      const tests = `${counted(count.tests, 'test')}${failed}, ${seconds.toFixed(1)} s`
      print(`${failed ? '✖' : '✔'} ${titleOf(one)}: ${tests}`)
    })
    // What a test says of itself, its seed for example, stands beside its failure.
    stream.on('test:diagnostic', data => {
      for (const { place, notes } of failures) if (place === placeOf(data)) notes.push(data.message)
    })
    for (const type of ['test:stdout', 'test:stderr'])
      stream.on(type, ({ file, message }) => {
        const program = resolve(file)
        lastWords.set(program, `${lastWords.get(program) ?? ''}${message}`.slice(-2000))
        print(message.trimEnd())
      })
    stream.on('test:fail', ({ name, nesting, details: { error } }) => {
      const process = nesting === 0 ? own.get(resolve(name)) : undefined
      if (process === undefined || error.failureType === 'subtestsFailed') return
      ends.set(process, howOf(error))
    })
  }

  /** A process that ended badly, or before its last file did, fails all files that it has not done, or the first if there are none. */
  const failProcess = process => {
    const said = lastWords.get(process.program)?.trim()
    const words = said ? `\n${indented(said)}` : ''
    const how = ends.get(process) ?? 'without a word'
    const undone = [...left.get(process)]
    const when = undone.length > 0 ? 'before it was done' : 'after its tests'
    for (const file of undone.length > 0 ? undone : process.files.slice(0, 1))
      fail({ ...process, file }, [], `Its process ended ${how} ${when}.${words}`)
  }

  const summary = () => [
    ...[...skips].flatMap(([reason, titles]) => [
      `skipped: ${reason}`,
      ...titles.slice(0, 3).map(title => `    ${title}`),
      ...(titles.length > 3 ? [`    and ${titles.length - 3} more`] : []),
    ]),
    ...(failures.length > 0 ? [`${counted(failures.length, 'failure')}:`] : []),
    ...failures.map(({ text, notes }) => [text, ...notes.map(indented)].join('\n')),
  ]

  const end = ({ isStopped, faults, notes }) => {
    clearInterval(timer)
    if (moves) out.write('\r\x1b[2K')
    const known = failures.length
    if (!isStopped)
      for (const process of programs)
        if (left.get(process).size > 0 || ends.has(process)) failProcess(process)
    for (const text of faults) failures.push({ text: coloured('red', `✖ ${text}`), notes: [] })
    const skipped = [...skips.values()].reduce((sum, titles) => sum + titles.length, 0)
    const stopped = isStopped
      ? [`stopped after ${took.length} of ${counted(files.length, 'file')}`]
      : []
    if (isQuiet) for (const { text } of failures.slice(known)) console.error(text)
    else
      out.write(
        `${[
          ...summary(),
          ...stopped,
          [`took ${inTime(elapsed())}`, ...notes].join(', '),
          `${passed} passed, ${failures.length} failed, ${skipped} skipped`,
        ].join('\n')}\n`,
      )
    return { passed, failed: failures.length, skipped }
  }

  draw()
  return { follow, skip, end, took }
}
