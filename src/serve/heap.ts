/** How V8 makes the objects of requests, and when it looks for old ones that nobody needs. */
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

/**
 * Has V8 make all objects young, whatever became of those before. Where many requests wait at once their objects live long, and V8 learns from
 * it to make the objects of all later ones old from the start: each then costs half as much again, for as long as the process lives.
 * It also has V8 look through the old objects when they are half as much again as was left the last time, and not when they are several times
 * that: bodies and answers are old by the time that they are done with, and what is left is small.
 * Compiled code is kept for the flags at that moment, so what was compiled until now is written first; call it once all is loaded.
 */
export const keepHeapSmall = (): void => {
  flushCompileCache()
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--heap-growing-percent=50')
}
