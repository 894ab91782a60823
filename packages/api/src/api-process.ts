import { listen, OF_MANY, POOL_SIZES, runProcess, STANDBY_POOL_SIZES, withCore } from '@postrider/core'
import { buildApp } from './app.ts'
import { finishConnections } from './http/finish-connections.ts'

/**
 * Percent (core/process.ts). A response of 10,000 counts or 5,000 rows takes 60 MB until it is sent. After calls of 1,000 recipients the process had taken
 * 272 to 275 MiB with 105, 258 with 80, 234 to 245 with 60, 232 to 234 with 50 and 224 to 228 with 40; with one thread of V8 (cli/memory.ts) 241 to
 * 252 with 50 and 235 to 240 with 35. Since hardly anything of a call outlives the young generation, the time per call is the same with all of them.
 */
const HEAP_GROWTH = 35

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
