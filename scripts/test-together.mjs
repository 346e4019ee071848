// Test files that share a process: to start one and to load the service takes longer than most of their tests.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, suite } from 'node:test'
import { pathToFileURL } from 'node:url'
import { longest } from './test-engines.mjs'
import { countFor } from './test-processor.mjs'

/** Whose files share processes, and the most in one: each process compiles the service anew, which costs seconds of processor. */
const rooms = [
  { folder: /^(src|content\/(?!test\/))/, most: 100 },
  // On PostgreSQL they take longer than all others together, so one process would go on alone in the end.
  { folder: /^content\/test\/contract/, most: 40 },
  ...['cli', 'postgres', 'store', ''].map(name => ({
    folder: new RegExp(`^(content/)?test/${name}`),
    most: 60,
  })),
]

const roomOf = file => rooms.find(({ folder }) => folder.test(file))

/** The exceptions, which have a process each, with the reason. */
export const alone = {
  'src/http/limit/counts.test.ts': 'its timers are not those of the process',
  'src/mail/smtp.test.ts': 'it changes how modules of the process are found',
  'test/cli/hang-ups.test.ts': 'it counts the sockets of the process',
  'test/cli/memory.test.ts': 'it measures the memory of the process',
  'test/contract/slow-files.test.ts': 'its timers and its clock are not those of the process',
  'test/nightly/planned-files-on-postgres.test.ts': 'its stores are on PostgreSQL',
  'test/store/writer.test.ts': 'it changes the environment of the process',
}

const canShare = file => !longest.includes(file) && !Object.hasOwn(alone, file)

/** Fewer files than this do not take as long as a process does to load. */
const few = 18

/** How many of the longest begin before those that share a process, which take longer than the rest. */
const first = 4

/** Groups of files, one for each process to start, in the order in which they begin. */
export const processesOf = files => {
  const kinds = Map.groupBy(files.filter(canShare), roomOf)
  const parts = [...kinds].flatMap(([{ most }, some]) => inParts(some, most))
  // Folders of which few files are run have a process together.
  const isSmall = part => part.length < few && roomOf(part[0]) !== rooms[0]
  const small = parts.filter(isSmall).flat()
  const shared = [...parts.filter(part => !isSmall(part)), ...(small.length > 0 ? [small] : [])]
  const single = files.filter(file => !canShare(file)).map(file => [file])
  const early = single.filter(([file]) => longest.slice(0, first).includes(file))
  return [...early, ...shared, ...single.filter(group => !early.includes(group))]
}

/** Parts of about the same size; neighbours, which often take as long, go to different ones. */
const inParts = (files, most) => {
  const count = Math.ceil(files.length / most)
  return Array.from({ length: count }, (_, part) => files.filter((_, n) => n % count === part))
}

/** The processes to start: the program of each, made in the temporary folder, and its files, which are suites in it. */
export const programsFor = groups => {
  const folder = mkdtempSync(join(tmpdir(), 'duet-together-'))
  return groups.map((files, n) => {
    const program = join(folder, `${n}.together.mjs`)
    const urls = files.map(file => [file, pathToFileURL(resolve(file)).href])
    writeFileSync(
      program,
      `import { runTogether } from ${JSON.stringify(import.meta.url)}
      await runTogether(${JSON.stringify(urls)})`,
    )
    return { program, files }
  })
}

/** Runs each file as a suite: its hooks are its own, and a fault of it leaves the others. */
export const runTogether = async files => {
  // Where files are several: their hooks are for the whole process, and not for the first file that imports them; a copy without test/ lacks them.
  const hooked = ['commands', 'postgres/tools/proxy', 'support/browser']
  const shared = files.length > 1 ? hooked.map(name => `../test/${name}.ts`) : []
  const found = shared.map(name => new URL(name, import.meta.url)).filter(url => existsSync(url))
  await Promise.all(found.map(url => import(url.href)))
  // One that hangs is ended long before the process is, and leaves the others.
  const timeout = Number(process.env.DUET_TEST_FILE_SECONDS) * 1000
  let last = 'to load and to end'
  let loaded = Promise.resolve()
  const body =
    ([name, url]) =>
    async () => {
      before(() => {
        countFor(last)
        last = name
      })
      // One after another: files that wait for one module would else declare their tests in the first one's suite.
      const own = loaded.then(() => import(url))
      loaded = own.catch(() => {})
      await own
    }
  for (const file of files) suite(file[0], { timeout }, body(file))
  after(() => countFor(last))
}
