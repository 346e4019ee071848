// The program that a test starts, made of its modules when the run began.
import './made.mjs'

await import('../../bin/duet')
