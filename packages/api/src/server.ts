import { OF_MANY, runProcess, withCore } from '@postrider/core'
import { buildApp } from './app.ts'

/** The API process: any number of them, on any number of hosts. */
await runProcess(
  { name: 'api', env: process.env },
  withCore({ name: 'api', connections: 10, share: OF_MANY }, async ({ config, log, core }) => {
    const app = await buildApp({ core, config, log })
    await app.listen({ host: config.apiHost, port: config.apiPort })
    return { close: () => app.close() }
  }),
)
