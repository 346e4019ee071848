/** The search of many generated texts, as test/generated/search.test.ts has a few. */
import { searchedAlike } from '../generated/searching.ts'

searchedAlike(2000)
