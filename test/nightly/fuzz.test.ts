/** Many generated requests, as test/fuzz/fuzz.test.ts has some. */
import { fuzzed } from '../fuzz/run.ts'

fuzzed(50_000)
