/** Whether the run is `npm test`, whose time is short: what goes through kinds of one thing tries a few of them there, and all in `npm run test:all`. */
export const isShort: boolean = process.env.DUET_TEST_SHORT === '1'

const half = process.env.DUET_TEST_HALF

/** Of many that are alike each whole run tries a half, `npm test` the one and `npm run test:all` the other; a file that is named tries all. */
export const isInTurn = (place: number): boolean => half === undefined || place % 2 === Number(half)
