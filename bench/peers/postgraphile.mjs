/** Peer: PostGraphile 5 with its plugin for filters over `node:http`, on the tables made by Duet. Usage: postgraphile.mjs URL */
import { createServer } from 'node:http'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { grafserv } from 'postgraphile/grafserv/node'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'
import { PostGraphileConnectionFilterPreset } from 'postgraphile-plugin-connection-filter'

const service = postgraphile({
  extends: [PostGraphileAmberPreset, PostGraphileConnectionFilterPreset],
  // Filters across relations, and by columns without an index too.
  disablePlugins: ['PgIndexBehaviorsPlugin'],
  schema: { connectionFilterRelations: true },
  pgServices: [
    makePgService({
      connectionString: process.argv[2],
      schemas: ['public'],
      pubsub: false,
      poolConfig: { max: 10, idleTimeoutMillis: 0 },
    }),
  ],
  grafast: { explain: false },
  grafserv: {
    graphiql: false,
    websockets: false,
    watch: false,
    // The data goes from PostgreSQL's JSON to the answer without a parse between.
    outputDataAsString: true,
  },
})

const server = createServer()
await service.createServ(grafserv).addTo(server)
await service.getSchema()
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
