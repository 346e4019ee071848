/** Generated models: both engines, graphql-js and a reference in memory answer generated requests alike. */
import { isShort } from '../support/short.ts'
import { modelsServedAlike } from './compare.ts'

modelsServedAlike(isShort ? 4 : 6, 100)
