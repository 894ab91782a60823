import { get } from 'node:http'

/**
 * `node probe.ts [URL]`: the exit status is 0 if the URL answers with success within five seconds. Without one it asks the readiness of the
 * process that its container runs: at API_PORT if that is the API, else at HEALTH_PORT, where nothing listens in a container of the API. For
 * the health checks of containers, every ten seconds in each of them: it takes 0.1 s of processor time, `postrider health` with the modules
 * of all commands 0.3 s.
 */
const { API_PORT, HEALTH_PORT } = process.env
const readyAt = (port: string): string => `http://127.0.0.1:${port}/health/ready`
const [, , ...given] = process.argv
ask(given.length > 0 ? given : [readyAt(API_PORT || '8080'), ...(HEALTH_PORT ? [readyAt(HEALTH_PORT)] : [])])

/** Asks the first of these URLs at which something listens. */
function ask([url = '', ...others]: string[]): void {
  const request = get(url, { timeout: 5000 }, ({ statusCode = 500 }) => process.exit(statusCode < 300 ? 0 : 1))
  request.on('timeout', () => request.destroy(new Error('no response')))
  request.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ECONNREFUSED' || others.length === 0) process.exit(1)
    ask(others)
  })
}
