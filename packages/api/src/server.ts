import { OF_MANY, runProcess, withCore } from '@postrider/core'
import { buildApp } from './app.ts'

/**
 * Percent (core/process.ts). Of the 45 MB that live here an answer of 10,000 counts, or 5,000 rows, makes 60 until it is sent: with 150
 * that heap grew to 150 MB. With 100 an accept took some 9 µs more, for collecting.
 */
const HEAP_GROWTH = 120

/** The API process: any number of them, on any number of hosts. */
await runProcess(
  { name: 'api', env: process.env, heapGrowth: HEAP_GROWTH },
  withCore({ name: 'api', connections: 10, share: OF_MANY }, async ({ config, log, core }) => {
    const app = await buildApp({ core, config, log })
    await app.listen({ host: config.apiHost, port: config.apiPort })
    return { close: () => app.close() }
  }),
)
