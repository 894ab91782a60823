import { createRequire, syncBuiltinESMExports } from 'node:module'

/**
 * MTA-STS policy hosts listen on port 443, which a test may not have: requests to them go to the port in POLICY_PORT. Loaded with --import
 * by the processes of a test, and by the test itself.
 */
const https = createRequire(import.meta.url)('node:https') as typeof import('node:https')
const { request } = https

https.request = ((url: URL | string, ...rest: unknown[]) => {
  const port = process.env.POLICY_PORT
  if (port && url instanceof URL && url.hostname.startsWith('mta-sts.')) url.port = port
  return (request as (...all: unknown[]) => unknown)(url, ...rest)
}) as typeof request
syncBuiltinESMExports()
