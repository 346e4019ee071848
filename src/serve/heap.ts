/** The memory of V8 in a service: how much it takes for young objects and when it gives it back. */
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** When young objects are collected after the start, in milliseconds: V8 looks back for some seconds, and has given back the most at the third time. */
const restful = [5000, 10_000, 15_000]

/**
 * Has an idle thread give back the room for young objects that loading took. V8 gives it back only when it collects them, and in an
 * idle thread it hardly ever does. Call it in each thread that serves, once that has loaded all: compiled
 * code is kept for the flags of the moment, so what was compiled until now is written first.
 */
export const shrinkAtRest = (): void => {
  flushCompileCache()
  setFlagsFromString('--expose-gc')
  const collect: (options: { readonly type: 'minor' }) => void = runInNewContext('gc')
  for (const time of restful) setTimeout(collect, time, { type: 'minor' }).unref()
}

/**
 * Has V8 make all objects young, whatever became of those before. When many requests wait at once their objects live long, and V8 learns from
 * it to make the objects of all later ones old from the start: each then costs half as much again, for as long as the process lives.
 * It also has V8 look through the old objects when they are half as much again as was left the last time, and not when they are several times
 * that: bodies and answers are old by the time that they are done with, and what is left is small. Call it when all threads have loaded all.
 */
export const keepHeapSmall = (): void => {
  shrinkAtRest()
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--heap-growing-percent=50')
}

/**
 * Halves the room for young objects that the options of Node ask for, or that `npm start` does, in the threads that begin from now on: each of
 * several serves a part of the requests, so that fewer of their objects live at a time. Node ends a thread alone that has no memory left only
 * if one collection makes no more than 16 MiB of its objects old: V8's own room is twice that, and would have the whole process end.
 */
export const halveYoung = (): void => {
  const given = [process.env.NODE_OPTIONS, ...process.execArgv].join(' ')
  // 16 is what npm start asks for.
  const [, megabytes = 16] = /.*--max[-_]semi[-_]space[-_]size=(\d+)/s.exec(given) ?? []
  setFlagsFromString(`--max-semi-space-size=${Math.max(1, Math.floor(Number(megabytes) / 2))}`)
}
