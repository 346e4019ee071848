/** Many generated requests in both versions, as test/generated/versions.test.ts has some. */
import { versionsAnswerAlike } from '../generated/versions.ts'

versionsAnswerAlike(5000)
