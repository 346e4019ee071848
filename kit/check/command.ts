/** `duet check`: tries a content out in a temporary folder: requests judged by a reference, its rules, and kills. */

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isPostgres, parameterFault } from '#base/database-url.ts'
import { randomFrom } from '#base/random.ts'
import { readArgs, UsageError, wholeOption } from '#cli/arguments.ts'
import { documentsOf } from '#cli/documents.ts'
import { checkDatabase } from '#config.ts'
import type { Content } from '#content.ts'
import { refused, withRight } from '#engines/postgres/errors.ts'
import { contentMigrations } from '#engines/shared/migrations.ts'
import { checkKills, serveAsChild } from '#kit/check/kills.ts'
import { checkLists } from '#kit/check/lists.ts'
import { checkHandReads, checkReads } from '#kit/check/reads.ts'
import { checkRules, exposedIn } from '#kit/check/rules.ts'
import { type CheckService, Fault, restore, serveForCheck, TooSlow } from '#kit/check/service.ts'
import { checkTogether } from '#kit/check/together.ts'
import { checkMany, checkWrites } from '#kit/check/writes.ts'
import { diffFiles, report } from '#kit/contract/contract.ts'
import { corrected, correctionsIn } from '#kit/contract/corrections.ts'
import { inWords, nobody, rightsInWords } from '#model/policy.ts'

export const help = `Usage: duet check [--seconds N] [--seed N]

Tries the content out on a store of its own in a temporary folder, for a minute unless
--seconds says otherwise: that store and model start; generated reads, conditions, orders,
pages, sums and writes of every kind of caller through REST and GraphQL, each compared with
a reference in memory; routes by hand, which may show no hidden row; every rule, also while
a row changes; actions called at once; and kills while it writes. Prints who may do what,
to be read; --rights prints that alone. Your store and settings are not used.
With ${checkDatabase}=postgres://… also on PostgreSQL, in a database that it
makes there and drops. --seed N repeats a run. Exit code 1 if something is wrong; a
machine that is too slow is no fault, and what was not tried is said.`

const rightsFile = 'rights.txt'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Who may do what, a line for each rule. */
const rightsOf = ({ entities, viewers: { roles }, actions }: Content): readonly string[] => [
  ...Object.entries(entities).flatMap(([name, { policy }]) =>
    rightsInWords(policy, roles).flatMap(({ operation, who }) =>
      operation !== 'enter' || policy.enter ? [`${name}: ${operation} by ${who}`] : [],
    ),
  ),
  ...actions.map(({ name, rule }) => `${name} by ${inWords(rule ?? nobody, roles)}`),
]

/** Compares the table of rights with the one that is kept; throws a Fault for what differs. */
const checkRights = (content: Content, kept: string): void => {
  const [was, is] = [readFileSync(kept, 'utf8').split('\n'), rightsOf(content)]
  const differences = [
    ...was.filter(line => line !== '' && !is.includes(line)).map(line => `  was: ${line}`),
    ...is.filter(line => !was.includes(line)).map(line => `  is:  ${line}`),
  ]
  if (differences.length > 0)
    throw new Fault(
      `who may do what differs from contract/${rightsFile}:\n${differences.join('\n')}\nmend the rule, or keep the new table: npx duet check --rights > contract/${rightsFile}`,
    )
}

/** Compares both APIs and the rights with the files of `contract/` beside the content; gives how many there are, and throws a Fault for what breaks their callers. */
const checkContract = async (content: Content, file: string | undefined): Promise<number> => {
  const folder = file === undefined ? '' : join(dirname(file), 'contract')
  if (folder === '' || !existsSync(folder)) return 0
  let count = 0
  const rights = join(folder, rightsFile)
  if (existsSync(rights)) {
    checkRights(content, rights)
    count += 1
  }
  const named = join(folder, 'corrections.json')
  const corrections = existsSync(named)
    ? correctionsIn({ name: 'contract/corrections.json', text: readFileSync(named, 'utf8') })
    : []
  for (const { name, text } of await documentsOf(content, {})) {
    const before = join(folder, name)
    if (!existsSync(before)) continue
    count += 1
    const today = new Date().toISOString().slice(0, 10)
    const was = { name, text: readFileSync(before, 'utf8') }
    const differences = diffFiles(was, { name, text }, today)
    const { left, missed } = corrected(name, differences, corrections)
    if (missed[0] !== undefined) throw new Fault(`contract/corrections.json: ${missed[0]}`)
    const breaking = left.filter(({ class: kind }) => kind === 'breaking')
    if (breaking.length > 0)
      throw new Fault(`the callers of contract/${name} would break: ${report(breaking).trim()}`)
  }
  return count
}

/** Makes a database beside the one of a URL, which is not touched, and gives its URL and what drops it. Throws a plain error with the remedy. */
const databaseFor = async (given: string) => {
  if (!isPostgres(given))
    throw new Error(
      `${checkDatabase} is no address of a PostgreSQL database: write postgres://NAME:PASSWORD@HOST:5432/DATABASE, of one who may create databases`,
    )
  const fault = parameterFault(given)
  if (fault !== undefined) throw new Error(`${checkDatabase} ${fault}`)
  const url = new URL(given)
  const database = `duet_check_${randomBytes(6).toString('hex')}`
  // Loaded only here: most checks need no driver.
  const { default: pg } = await import('pg')
  const asked = async (text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: given })
    await client.connect().catch(error => {
      throw new Error(`${checkDatabase}: ${refused(error, given).message}`, { cause: error })
    })
    await withRight(given, () => client.query(text)).finally(() => client.end().catch(() => {}))
  }
  await asked(`create database ${database} template template0`)
  url.pathname = database
  return { url: url.href, drop: () => asked(`drop database if exists ${database} with (force)`) }
}

type Turn = {
  readonly content: Content
  readonly file: string | undefined
  readonly seed: number
  readonly seconds: number
}

/** Checks one engine in so many seconds, and gives whether the machine was fast enough for all of it; throws a Fault for the first thing that is wrong. */
const checkOn = async (
  engine: string,
  { content, file, seed, seconds }: Turn,
  url?: string,
): Promise<boolean> => {
  const begun = performance.now()
  /** Whether this share of the time is over. */
  const isOver = (share: number) => performance.now() - begun > share * seconds * 1000
  const tell = (line: string) => say(`${engine}: ${line}`)
  const random = randomFrom(seed)
  const service: CheckService = await serveForCheck(content, url)
  const { model } = service
  try {
    tell('the migrations make what the model has, and it starts')
    for (const note of service.notes) say(`  note: ${note}`)
    const beginning = await service.rows()
    do {
      await checkReads(service, random)
      await checkLists(service, random)
      await checkWrites(service, random, () => isOver(0.4))
      // What is read after writes is not what was read before them.
      if (!isOver(0.5)) await checkReads(service, random)
      if (!isOver(0.5)) await checkLists(service, random)
      await restore(service, beginning)
      await checkMany(service, random)
    } while (!isOver(0.5))
    const { length } = service.callers
    tell(
      `${service.asked()} requests of ${length} callers, through REST and GraphQL, were answered as the rules and the rows say`,
    )
    const byHand = await checkHandReads(service)
    if (byHand > 0) tell(`${byHand} routes by hand showed nobody a row that is hidden from him`)
    const tried = await checkRules(service, random, () => isOver(0.7))
    if (tried.changed > 0)
      tell(
        `${tried.changed} rules that look at rows refused from the moment on that their row changed`,
      )
    for (const note of exposedIn(model, await service.reference(), service.callers))
      say(`  note: ${note}`)
    if (tried.untried.length > 0)
      say(
        `  note: asked only while their row stays as it is, as no change was found that their rule refuses: ${tried.untried.join(', ')}`,
      )
    const rounds = await checkTogether(service, random, () => isOver(0.8))
    if (rounds > 0)
      tell(`actions, three at once in ${rounds} rounds, did what they do one after another`)
    const effects = [...service.effects.values()].reduce((sum, count) => sum + count, 0)
    if (effects > 0)
      tell(`${effects} effects of hooks after writes were recorded; none of them was done`)
    const killed = await checkKills(service, file, () => isOver(1))
    tell(
      killed
        ? `${killed.writes} acknowledged writes were there after ${killed.kills} kills`
        : 'nothing was killed, as no caller can create rows by itself',
    )
    return true
  } catch (error) {
    if (!(error instanceof TooSlow)) throw error
    tell(`stopped, as this machine or this request is too slow: ${error.message}`)
    return false
  } finally {
    await service.close()
  }
}

export const run = async (
  args: readonly string[],
  content: Content,
  file?: string,
): Promise<void> => {
  const options = {
    seconds: { type: 'string' },
    seed: { type: 'string' },
    rights: { type: 'boolean' },
    'as-child': { type: 'boolean' },
  } as const
  const { values } = readArgs(args, options, 0)
  if (values['as-child']) return serveAsChild(content)
  if (values.rights) return say(rightsOf(content).join('\n'))
  const seconds = wholeOption('seconds', values.seconds, 60)
  if (seconds < 1) throw new UsageError('--seconds must be 1 or more')
  const seed = wholeOption('seed', values.seed, Math.floor(Math.random() * 1_000_000))
  const given = process.env[checkDatabase]
  // First, as what lacks would be told too late.
  for (const engine of given ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const))
    if (contentMigrations(engine, content.migrations).length === 0)
      throw new Error(
        `there are no migrations for ${engine} in ${fileURLToPath(content.migrations)}: write the first one with npx duet migrate --draft first`,
      )
  const database = given ? await databaseFor(given) : undefined
  say(`trying the content on a store of its own, for about ${seconds} seconds; yours is not used`)
  const turn = { content, file, seed, seconds: database ? seconds / 2 : seconds }
  let isWhole = false
  try {
    const promised = await checkContract(content, file)
    say(['who may do what:', ...rightsOf(content)].join('\n  '))
    if (promised > 0) say(`contract: nothing breaks by its ${promised} files`)
    isWhole = await checkOn('SQLite', turn)
    if (database) isWhole = (await checkOn('PostgreSQL', turn, database.url)) && isWhole
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Error(`${error.message}\nagain: npx duet check --seed ${seed} --seconds ${seconds}`)
  } finally {
    await database?.drop()
  }
  say(
    isWhole
      ? `all is well (seed ${seed})`
      : `nothing wrong was found, but not everything was tried: run it again while the machine is less busy (seed ${seed})`,
  )
  // What a client keeps open for a while would keep the process.
  process.exit()
}
