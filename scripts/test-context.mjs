// Loaded into each test file's process: tells the test runner which test runs. By itself it follows
// every promise with a hook, which takes a tenth of the processor; the context that Node passes on
// with asynchronous work says the same. Where it does not, an error counts for the file and for no test.
import hooks, { AsyncLocalStorage, createHook, executionAsyncId } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'

const running = new AsyncLocalStorage()
tracingChannel('node.test').start.bindStore(running, () => executionAsyncId())

// The runner takes them from there when it is loaded; everybody else gets Node's own.
hooks.createHook = callbacks => createHook({ ...callbacks, trackPromises: false })
hooks.executionAsyncId = () => running.getStore() ?? executionAsyncId()
await import('node:test')
Object.assign(hooks, { createHook, executionAsyncId })
