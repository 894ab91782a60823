import { get } from 'node:http'

/**
 * `node probe.ts URL`: the exit status is 0 if the URL answers with success within five seconds. For the health checks of containers,
 * every ten seconds in each of them: it takes 0.1 s of processor time, `postrider health` with the modules of all commands 0.3 s.
 */
const request = get(process.argv[2] ?? '', { timeout: 5000 }, (response) => {
  process.exit((response.statusCode ?? 500) < 300 ? 0 : 1)
})
request.on('timeout', () => request.destroy(new Error('no response')))
request.on('error', () => process.exit(1))
