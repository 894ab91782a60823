import { listen, OF_MANY, POOL_SIZES, runProcess, STANDBY_POOL_SIZES, withCore } from '@postrider/core'
import { buildApp } from './app.ts'
import { finishConnections } from './http/finish-connections.ts'

/**
 * Percent (core/process.ts). About 45 MB are live here, and a response of 10,000 counts or 5,000 rows takes 60 MB until it is
 * sent; with 150 the heap then grew to 150 MB. With calls of 1,000 recipients the process took 251 to 264 MiB with 120, and 240 to 244 with 105,
 * which costs a call some 3 % more processor time. With 80 it cost 12 %.
 */
const HEAP_GROWTH = 105

/** The API process. Any number of them can run, on any number of hosts. */
await runProcess(
  { name: 'api', env: process.env, heapGrowth: HEAP_GROWTH },
  withCore(
    {
      name: 'api',
      connections: POOL_SIZES.api,
      standbyConnections: STANDBY_POOL_SIZES.api,
      share: OF_MANY,
      ownHealth: true,
    },
    async ({ config, log, stop, sockets, core }) => {
      const app = await buildApp({ core, config, log, stop })
      const fd = sockets.fd('api')
      if (fd === undefined) {
        await app.listen({ host: config.apiHost, port: config.apiPort })
      } else {
        await app.ready()
        await listen(app.server, { fd })
      }
      return {
        isServer: true,
        async close() {
          if (fd !== undefined) await finishConnections(app.server)
          await app.close()
        },
      }
    },
  ),
)
