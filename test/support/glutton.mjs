/** Takes all the memory of the service that loads it, on SIGUSR2, until its process dies of that. */
process.on('SIGUSR2', () => {
  const all = []
  for (;;) all.push(new Array(10_000).fill(all.length))
})
