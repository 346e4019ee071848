/** Whether the run is `npm test`, whose time is short: what goes through kinds of one thing tries a few of them there, and all in `npm run test:all`. */
export const isShort: boolean = process.env.DUET_TEST_SHORT === '1'
