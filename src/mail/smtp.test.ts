/** Delivery over SMTP, to a mail server on this machine. */
import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { test } from 'node:test'
import { mailServer, message } from '../../test/mail-server.ts'
import { smtp } from './smtp.ts'

test('a message is sent although the one before could not be, for a reason that is over', async t => {
  const server = await mailServer()
  t.after(() => server.close())
  const deliver = smtp(server.url, 'duet@example.org')
  const { signal } = new AbortController()
  const hooks = registerHooks({
    resolve: (name, context, next) => {
      if (name === 'nodemailer') throw new Error('too many open files')
      return next(name, context)
    },
  })
  await assert.rejects(deliver(message, 0, signal), /too many open files/)
  hooks.deregister()
  await deliver(message, 0, signal)
  assert.equal((await server.next()).from, 'duet@example.org')
})
