/** Generated requests in both versions of both contents; test/nightly/versions.test.ts sends more. */
import { versionsAnswerAlike } from './versions.ts'

versionsAnswerAlike(250)
