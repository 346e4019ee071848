/** How often tests try what hangs on chance or on the moment. */

/** Whether a nightly test runs the tests of a usual file as often as was planned. */
export const isPlanned = process.env.DUET_TEST_PLANNED !== undefined

/** How often: a few times in the usual run, and as often as was planned, or DUET_TEST_ROUNDS, at night. */
export const rounds = (usual: number, planned: number): number =>
  isPlanned ? Number(process.env.DUET_TEST_ROUNDS ?? planned) : usual

/** What is drawn by chance: the same each time, unless DUET_TEST_SEED says otherwise. */
export const seed = (usual: number): number => Number(process.env.DUET_TEST_SEED ?? usual)
