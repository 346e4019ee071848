/** Ends the serving thread that is asked for `/api/die`, by an error that nobody catches, or `/api/starve`, by taking all its memory; holds up for 700 ms the one that is asked for `/api/late`. */
import { subscribe } from 'node:diagnostics_channel'

const starve = () => {
  const all = []
  for (;;) all.push(new Array(10_000).fill(all.length))
}
subscribe('tracing:duet:request:start', ({ path }) => {
  if (path === '/api/starve') setImmediate(starve)
  if (path === '/api/late') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
  if (path === '/api/die')
    setImmediate(() => {
      throw new Error('asked to die')
    })
})
