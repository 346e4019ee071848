/** Opens something, gives the result of `work` with it, and closes it in the end, whatever became of the work. */
export const withOpened = async <Thing extends { readonly close: () => Promise<void> }, Result>(
  opening: Promise<Thing>,
  work: (thing: Thing) => Promise<Result>,
): Promise<Result> => {
  const thing = await opening
  try {
    return await work(thing)
  } finally {
    await thing.close()
  }
}
