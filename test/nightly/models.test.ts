/** Many generated models, as test/generated/models.test.ts has a few. */
import { modelsServedAlike } from '../generated/compare.ts'

modelsServedAlike(200, 150)
