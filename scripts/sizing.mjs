// Computes the sizing in bench/capacity.md: from its two tables of figures to cores, machines, connections and bytes.

const day = 86_400

/** The rows of the tables of a document as a map from the first cell to the numbers in the others. */
function figuresIn(text) {
  const rows = text.matchAll(/^\| ([^|]+?) \|((?: [\d.]+ \|)+)$/gm)
  return new Map(
    [...rows].map(([, name, cells]) => [name, cells.split('|').slice(0, -1).map(Number)]),
  )
}

const kinds = ['GET one user', 'GraphQL one user', 'GraphQL nested', 'order placed']

/** The connections of a process by default: DUET_PG_READERS and DUET_PG_POOL. */
const usual = { readers: 2, pool: 10 }

const sum = (things, of) => things.reduce((total, thing) => total + of(thing), 0)
const shown = (number, digits = 0) => number.toLocaleString('en', { maximumFractionDigits: digits })

/** Everything that follows from the figures in a document's text. */
export function count(text) {
  const figures = figuresIn(text)
  const of = name => {
    const found = figures.get(name)
    if (found === undefined) throw new Error(`bench/capacity.md has no figure of ${name}`)
    return found
  }
  const one = name => of(name)[0]
  const mean = (one('users a day') * one('requests of a user a day')) / day
  const peak = mean * one('peak through mean')
  const cached = one('share of reads that a cache in front answers')
  const late = one('share of reads that bring a position and find no replica')
  const busy = one('how busy a core may be')
  const served = kinds.map(kind => {
    const [rate, micros, bytes, kept] = of(kind)
    const isWrite = kept > 0
    const asked = peak * one(`share of ${kind}`) * (isWrite ? 1 : 1 - cached)
    return { asked, rate, cores: (asked * micros) / 1e6 / busy, bytes, kept, isWrite }
  })
  const reads = served.filter(({ isWrite }) => !isWrite)
  const writes = served.filter(({ isWrite }) => isWrite)
  const duetCores = sum(served, ({ asked, rate }) => asked / rate) / busy
  const machines = Math.ceil(duetCores / one('cores of a machine for Duet')) + 1
  const processes = machines * one('cores of a machine for Duet')
  const perServer = one('cores of a PostgreSQL server')
  const readCores = sum(reads, ({ cores }) => cores)
  return {
    mean,
    peak,
    origin: sum(served, ({ asked }) => asked),
    writes: sum(writes, ({ asked }) => asked),
    duetCores,
    machines,
    processes,
    replicas: Math.ceil((readCores * (1 - late)) / (perServer - 1)) + 1,
    replicaCores: readCores * (1 - late),
    primaryCores: sum(writes, ({ cores }) => cores) + readCores * late,
    perServer,
    resting: processes * usual.readers,
    most: processes * (usual.readers + 2 * usual.pool),
    gigabits: (sum(served, ({ asked, bytes }) => asked * bytes) * 8) / 1e9,
    keptADay: (sum(writes, ({ asked, kept }) => asked * kept) / one('peak through mean')) * day,
  }
}

/** The table of results, each with its formula. */
export function sizingRows(text) {
  const of = count(text)
  const primaries = of.primaryCores / of.perServer
  return [
    ['requests/s, mean', 'users × requests ÷ 86,400', shown(of.mean)],
    ['requests/s, peak', 'mean × peak through mean', shown(of.peak)],
    ['of them for Duet', 'writes, and reads × (1 − cache)', shown(of.origin)],
    ['of them writes', 'peak × their share', shown(of.writes)],
    ['cores for Duet', 'Σ requests/s ÷ requests/s of a core, ÷ how busy', shown(of.duetCores)],
    ['machines for Duet', 'cores ÷ cores of a machine, and one to spare', shown(of.machines)],
    ['processes', 'one a core of each machine', shown(of.processes)],
    [
      'replicas',
      `Σ reads × µs × (1 − those for the primary) ÷ how busy = ${shown(of.replicaCores)} cores; ÷ (cores of a server − 1), and one to spare`,
      shown(of.replicas),
    ],
    [
      'cores of the primary',
      '(Σ writes × µs + Σ reads for the primary × µs) ÷ how busy',
      `${shown(of.primaryCores, 1)}: ${primaries <= 1 ? 'fits one server' : `more than one server has, by ${shown(primaries, 1)} ×`}`,
    ],
    [
      'connections to the primary',
      'processes × 2 at rest, × 22 at most',
      `${shown(of.resting)} to ${shown(of.most)}: ${of.most > 500 ? 'poolers' : 'no pooler needed'}`,
    ],
    ['network out of Duet', 'Σ requests/s × bytes × 8', `${shown(of.gigabits, 1)} Gbit/s`],
    [
      'kept by the primary',
      'Σ writes ÷ peak through mean × 86,400 × bytes kept',
      `${shown(of.keptADay / 1e9)} GB a day`,
    ],
  ]
}
