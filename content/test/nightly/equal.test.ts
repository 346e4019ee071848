/** More of the requests of content/test/postgres/equal.test.ts. */
import { requestsAnsweredAlike } from '../postgres/equal/rounds.ts'

requestsAnsweredAlike(5000)
