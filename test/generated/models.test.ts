/** Generated models: both engines, graphql-js and a reference in memory answer generated requests alike. */
import { modelsServedAlike } from './compare.ts'

modelsServedAlike(4, 100)
