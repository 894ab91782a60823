import { POOL_SIZES, runProcess, STANDBY_POOL_SIZES, withCore } from '@postrider/core'
import { startWorker } from './start-worker.ts'

const LOST = {
  taken: 'lease lost, exiting: this worker was presumed dead',
  hung: 'lease released, exiting: the main loop was blocked',
  silent: 'lease released, exiting: the database connections do not respond',
} as const

/** The delivery process. Any number of them can run, on any number of hosts. */
await runProcess(
  { name: 'delivery', env: process.env },
  withCore(
    { name: 'delivery', connections: POOL_SIZES.delivery, standbyConnections: STANDBY_POOL_SIZES.delivery },
    (context) =>
      startWorker(context, (why) => {
        context.log.fatal({ why }, LOST[why])
        process.exit(1)
      }),
  ),
)
