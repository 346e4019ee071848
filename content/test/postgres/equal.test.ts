/** Generated requests: a service on SQLite and one on PostgreSQL give the same answers, to the letter. */
import { requestsAnsweredAlike } from './equal/rounds.ts'

requestsAnsweredAlike(500)
