/** `duet check`: tries a content out in a temporary folder: requests judged by a reference, its rules, and kills. */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomFrom } from '#base/random.ts'
import { checkCalls, checkTogether, restore } from '#check/actions.ts'
import { checkKills, serveAsChild } from '#check/kills.ts'
import { checkReads, checkWrites } from '#check/requests.ts'
import { checkRules } from '#check/rules.ts'
import { type CheckService, databaseFor, Fault, serveForCheck } from '#check/service.ts'
import { readArgs, UsageError, wholeOption } from '#cli/arguments.ts'
import { checkDatabase, loadConfig } from '#config.ts'
import type { Content } from '#content.ts'
import { diffFiles, report } from '#contract/contract.ts'
import { deriveSchema, schemaText } from '#graphql/schema.ts'
import { inWords, nobody, rightsInWords } from '#model/policy.ts'
import { openApiOf } from '#openapi/openapi.ts'
import { printed } from '#openapi/print.ts'
import { modelFor } from '#serve/store.ts'

export const help = `Usage: duet check [--seconds N] [--seed N]

Tries the content out on a store of its own in a temporary folder, for a minute unless
--seconds says otherwise: that store and model start; generated requests of every kind of
caller through REST and GraphQL, each answer compared with a reference in memory; every
rule, for rows that fit it, that do not, and that change; actions called at once; and kills
while it writes. Prints who may do what, to be read. Your store and settings are not used.
With ${checkDatabase}=postgres://… also on PostgreSQL, in a database that it
makes there and drops. --seed N repeats a run. Exit code 1 where something is wrong.`

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Who may do what, a line for each rule. */
const printRights = ({ entities, viewers: { roles }, actions }: Content): void => {
  say('who may do what:')
  for (const [name, { policy }] of Object.entries(entities)) {
    say(`  ${name}`)
    for (const { operation, who } of rightsInWords(policy, roles))
      if (operation !== 'enter' || policy.enter) say(`    ${operation.padEnd(7)} ${who}`)
  }
  for (const { name, rule } of actions) say(`  ${name}: ${inWords(rule ?? nobody, roles)}`)
}

/** Compares both APIs with the files of `contract/` beside the content; gives how many there are, and throws a Fault for what breaks their callers. */
const checkContract = async (content: Content, file: string | undefined): Promise<number> => {
  const folder = file === undefined ? '' : join(dirname(file), 'contract')
  if (folder === '' || !existsSync(folder)) return 0
  const model = modelFor(loadConfig({}, content.settings), content)
  const texts = new Map([
    ['schema.graphql', async () => schemaText(deriveSchema(model, content.actions))],
  ])
  for (const number of content.versions.all)
    texts.set(`v${number}.openapi.json`, async () =>
      printed(await openApiOf(content, number, model)),
    )
  let count = 0
  for (const [name, textOf] of texts) {
    const before = join(folder, name)
    if (!existsSync(before)) continue
    count += 1
    const today = new Date().toISOString().slice(0, 10)
    const was = { name, text: readFileSync(before, 'utf8') }
    const differences = diffFiles(was, { name, text: await textOf() }, today)
    const breaking = differences.filter(({ class: kind }) => kind === 'breaking')
    if (breaking.length > 0)
      throw new Fault(`the callers of contract/${name} would break: ${report(breaking).trim()}`)
  }
  return count
}

type Turn = {
  readonly content: Content
  readonly file: string | undefined
  readonly seed: number
  readonly seconds: number
}

/** Checks one engine in so many seconds; throws a Fault for the first thing that is wrong. */
const checkOn = async (engine: string, { content, file, seed, seconds }: Turn, url?: string) => {
  const begun = performance.now()
  /** Whether this share of the time is over. */
  const isOver = (share: number) => performance.now() - begun > share * seconds * 1000
  const random = randomFrom(seed)
  const service: CheckService = await serveForCheck(content, url)
  try {
    say(`${engine}: the migrations make what the model has, and it starts`)
    for (const note of service.notes) say(`  note: ${note}`)
    const beginning = await service.rows()
    let passes = 0
    do {
      await checkReads(service, random)
      await checkWrites(service, random, () => passes > 0 && isOver(0.5))
      await checkReads(service, random)
      await restore(service, beginning)
      passes += 1
    } while (!isOver(0.5))
    say(
      `${engine}: ${service.asked()} requests of ${service.callers.length} callers through REST and GraphQL answered as the rules say`,
    )
    await checkCalls(service, random)
    const tried = await checkRules(service, random)
    say(
      `${engine}: ${tried.all} rules by row let through and refused whom they say, ${tried.changed} of them while a row changed`,
    )
    for (const told of tried.untried)
      say(`  note: nothing that may change was found to decide: ${told}`)
    const rounds = await checkTogether(service, random, () => isOver(0.8))
    say(
      `${engine}: actions called at once, in ${rounds} rounds, did what they do one after another`,
    )
    const killed = await checkKills(service, file, () => isOver(1))
    say(
      killed
        ? `${engine}: ${killed.writes} acknowledged writes were there after ${killed.kills} kills`
        : `${engine}: no kills, as callers can create no rows by themselves`,
    )
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
    'as-child': { type: 'boolean' },
  } as const
  const { values } = readArgs(args, options, 0)
  if (values['as-child']) return serveAsChild(content)
  const seconds = wholeOption('seconds', values.seconds, 60)
  if (seconds < 1) throw new UsageError('--seconds must be 1 or more')
  const seed = wholeOption('seed', values.seed, Math.floor(Math.random() * 1_000_000))
  const given = process.env[checkDatabase]
  // First, as a server that is not there would be told too late.
  const database = given ? await databaseFor(given) : undefined
  printRights(content)
  const turn = { content, file, seed, seconds: database ? seconds / 2 : seconds }
  try {
    const promised = await checkContract(content, file)
    if (promised > 0) say(`contract: the callers of its ${promised} files can go on`)
    await checkOn('SQLite', turn)
    if (database) await checkOn('PostgreSQL', turn, database.url)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    throw new Error(`${error.message}\nagain: npx duet check --seed ${seed} --seconds ${seconds}`)
  } finally {
    await database?.drop()
  }
  say(`all is well (seed ${seed})`)
  // What a client keeps open for a while would keep the process.
  process.exit()
}
