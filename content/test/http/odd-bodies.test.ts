import { test } from 'node:test'
import { oddBodies } from './odd-bodies.ts'

test('no body changes what objects inherit, whatever its members are called [G7]', () =>
  oddBodies(300))
