import { POOL_SIZES, runProcess, STANDBY_POOL_SIZES, withCore } from '@postrider/core'
import { startWorker } from './start-worker.ts'

const LOST = {
  taken: 'lease lost, exiting: this worker was presumed dead',
  hung: 'lease released, exiting: the main loop was blocked',
  silent: 'lease released, exiting: the database connections do not respond',
} as const

/**
 * Percent (core/process.ts). With 2,000 conversations of servers that take seconds, some 60 MB are live: 150 let the process grow to 280 MiB, 80 to 257,
 * 60 to 250, since one thread that collects garbage lets it grow meanwhile. The time per message is the same with 150 and 80 (`node bench/cpu.ts`, in turn:
 * 883, 805, 805 and 805, 812, 830 µs).
 */
const HEAP_GROWTH = 60

/** The delivery process. Any number of them can run, on any number of hosts. */
await runProcess(
  { name: 'delivery', env: process.env, heapGrowth: HEAP_GROWTH },
  withCore(
    { name: 'delivery', connections: POOL_SIZES.delivery, standbyConnections: STANDBY_POOL_SIZES.delivery },
    (context) =>
      startWorker(context, (why) => {
        context.log.fatal({ why }, LOST[why])
        process.exit(1)
      }),
  ),
)
