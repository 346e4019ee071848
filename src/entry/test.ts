/** `duet/test`: a service of a content for its tests, on a store of its own. */
export { startService, type TestService } from '#serve/temporary.ts'
