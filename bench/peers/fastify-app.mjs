/** The server of a peer made with Fastify: tokens, a rate limit and a log, as a careful author would have them. */
import jwt from '@fastify/jwt'
import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import pino from 'pino'

/** An app that takes the tokens of BENCH_SECRET; `plugins` come after the rate limit. */
export async function fastifyApp(...plugins) {
  // The lines are written some at a time, as Duet's are.
  const logger = pino(pino.destination({ dest: 1, sync: false, minLength: 4096 }))
  const app = Fastify({ loggerInstance: logger, disableRequestLogging: true })
  await app.register(jwt, {
    secret: process.env.BENCH_SECRET,
    verify: { algorithms: ['HS256'], cache: true },
  })
  await app.register(rateLimit, {
    max: 100_000_000,
    timeWindow: 60_000,
    hook: 'preHandler',
    keyGenerator: request => request.user.sub,
  })
  for (const plugin of plugins) await app.register(plugin)
  app.addHook('onRequest', async request => {
    await request.jwtVerify()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url, user } = request
    const { statusCode: status, elapsedTime: ms } = reply
    logger.info(
      { requestId: request.id, method, path: url, status, viewer: user?.sub, ms },
      'request',
    )
    done()
  })
  return app
}
