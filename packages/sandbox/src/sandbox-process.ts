import { runProcess } from '@postrider/core'
import { startSandbox } from './sandbox.ts'

/** The sandbox process. One is enough; production has none. */
await runProcess({ name: 'sandbox', env: process.env }, startSandbox)
