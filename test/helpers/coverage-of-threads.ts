import { syncBuiltinESMExports } from 'node:module'
import { takeCoverage } from 'node:v8'
import threads, { type WorkerOptions } from 'node:worker_threads'

/**
 * Loaded into every process of test/coverage.ts, and into its threads, which have neither the environment nor the options of their process. A
 * thread that is terminated writes no coverage, so it does soon after an answer.
 */
const SOON_MS = 100

threads.Worker = class extends threads.Worker {
  constructor(file: URL, options: WorkerOptions) {
    const env = { ...(options.env as NodeJS.ProcessEnv), NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE }
    super(file, { ...options, env, execArgv: [`--import=${import.meta.url}`] })
  }
}
syncBuiltinESMExports()

if (threads.parentPort) {
  const port = threads.parentPort
  const post = port.postMessage.bind(port)
  let isDue = false
  const take = () => {
    isDue = false
    takeCoverage()
  }
  port.postMessage = (...answer: Parameters<typeof post>) => {
    post(...answer)
    if (!isDue) setTimeout(take, SOON_MS).unref()
    isDue = true
  }
}
