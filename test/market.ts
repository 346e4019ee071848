/** Worlds, services and commands of the market, for the tests of the machine that need a content: they are there whatever is in `content/`. */
import { fileURLToPath } from 'node:url'
import type { Content } from '#content.ts'
import type { EngineName } from '#engines/shared/migrations.ts'
import { commandsOf } from './commands.ts'
import * as anyProgram from './duet.ts'
import { historyFor as anyHistory } from './history.ts'
import market from './support/market/duet.config.ts'
import { rows } from './support/market/rows.ts'
import * as anyWorld from './world.ts'

export * from './duet.ts'
export * from './world.ts'

const path = 'test/support/market/duet.config.ts'
/** What tells the program that it is the market. */
export const config = ['--config', fileURLToPath(new URL(`../${path}`, import.meta.url))] as const

/** Makes a world, with rows in it unless the test says otherwise; close it in the end. Of another content it begins without. */
export const createWorld = (options: anyWorld.WorldOptions = {}): Promise<anyWorld.World> => {
  const isUsual = options.rows === undefined && (options.content ?? market) === market
  return anyWorld.createWorld({
    content: market,
    ...options,
    ...(isUsual && { rows, isKept: !options.model && !options.also }),
  })
}

export const folderOf = (name: string) => anyProgram.folderOf(name, market)

type Settings = anyProgram.Settings

export const duet = (args: readonly string[], settings?: Settings, file?: string) =>
  anyProgram.duet(file === undefined ? [...args, ...config] : args, settings, file)

export const serve = (settings: Settings, ...args: readonly string[]) =>
  anyProgram.serve(settings, ...args, ...config)

export const historyFor = (engine: EngineName, content: Content = market) =>
  anyHistory(engine, content)

/** The model of the market, with its usual settings. */
export const usualModel = anyWorld.modelAsUsual(market)

/** Runs a command of the market. */
export const command = commandsOf('default', path)
