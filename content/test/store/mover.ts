/** A program that moves the pictures of a store into the place of files, and says each step, until it kills itself at step `MOVER_STEPS`. Its settings are those of a service. */

import { loadConfig } from '#config.ts'
import content from '#content/duet.config.ts'
import { moveFormer } from '#files/former.ts'
import { keeping } from '#files/keep.ts'
import { filesOf, modelFor, storeOf } from '#serve/store.ts'

const config = loadConfig(process.env, content.settings)
const model = modelFor(config, content)
const store = await storeOf(config, content)
const engine = store.open({
  ...{ digits: 2, readTimeout: 60_000, queue: 100, isWatched: false },
  limits: { objects: 1000, bytes: 33_554_432 },
  onFatal: error => {
    throw error
  },
})
await engine.ready()
let left = Number(process.env.MOVER_STEPS)
const say = (what: string) => {
  console.log(what)
  if (--left === 0) process.kill(process.pid, 'SIGKILL')
}
const said =
  <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
  async (...given: Given): Promise<Result> => {
    say('begins')
    const result = await work(...given)
    say('has done')
    return result
  }
const writer = { write: said(engine.write) }
const ofStore = { reader: engine, writer, dialect: engine.dialect, now: Date.now }
const moved = await moveFormer({
  ...{ ...ofStore, entities: model.entities, isShared: config.store.kind === 'postgres' },
  keepFile: keeping({ ...ofStore, model, files: filesOf(config, model) }),
  session: () => store.session('filling'),
})
console.log(`moved ${moved}`)
await engine.close()
