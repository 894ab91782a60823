import { hostname } from 'node:os'
import { createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import { claimDue } from '../../helpers/claim.ts'

/**
 * A delivery worker as far as leases go, for tests to kill or stop: takes a lease, claims what is due, notes the final dot of
 * as many as it is told, and from then on only proves that it lives.
 *
 *     node worker-process.ts DOTS
 */
const config = readConfig(process.env)
const sql = openDatabase({ url: config.databaseUrl as string, name: 'worker', connections: 2 })
const core = createCore({ sql, config, log: createLog('worker', 'silent') })
const lease = await core.deliveries.register({ host: hostname(), pid: process.pid })
const claimed = await claimDue(core, { workerId: lease.workerId, limit: 100 })
const dotted = claimed.slice(0, Number(process.argv[2]))
await core.deliveries.recordEndOfData(
  dotted.map((key) => ({ ...key, workerId: lease.workerId, host: 'mx1.harbor.example', domainId: 1 })),
)
setInterval(async () => {
  const alive = await lease.beat()
  process.stdout.write(`${JSON.stringify({ alive })}\n`)
}, 500)
process.stdout.write(`${JSON.stringify({ workerId: lease.workerId, claimed, dotted: dotted.length })}\n`)
