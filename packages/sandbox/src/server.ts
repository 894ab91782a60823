import { runProcess } from '@postrider/core'
import { startSandbox } from './sandbox.ts'

/** The sandbox process: one is enough, and production has none. */
await runProcess({ name: 'sandbox', env: process.env }, startSandbox)
