/** How often tests try what hangs on chance or on the moment. */

/** Whether a nightly test runs the tests of a usual file as often as was planned. */
export const isPlanned = process.env.DUET_TEST_PLANNED !== undefined

/** How often: a few times, and as often as was planned, or DUET_TEST_ROUNDS, at night. */
export const rounds = (usual: number, planned: number): number =>
  isPlanned ? Number(process.env.DUET_TEST_ROUNDS ?? planned) : usual

/** What chance is drawn from: the same in each run, so that none fails by a draw that nobody changed; the nights and DUET_SEED draw another. */
export const usualSeed = (usual: number): number => Number(process.env.DUET_SEED ?? usual)
