/** Takes all the memory of the service that loads it, on SIGUSR2, until its process dies of that. */
import { isMainThread } from 'node:worker_threads'

// The threads of the store load this file too.
if (isMainThread)
  process.on('SIGUSR2', () => {
    const all = []
    for (;;) all.push(new Array(10_000).fill(all.length))
  })
