import { asPlanned } from './planned.ts'

asPlanned(['store/race.test.ts', 'contract/keys.test.ts', 'contract/rest-preconditions.test.ts'])
