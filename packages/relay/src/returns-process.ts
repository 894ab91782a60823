import { ensureCertificate, POOL_SIZES, runProcess, withCore } from '@postrider/core'
import { createReturns } from './returns/returns.ts'

/** The process that receives bounce reports and complaints. Any number of them can run, on any number of hosts. */
await runProcess(
  { name: 'returns', env: process.env },
  withCore({ name: 'returns', connections: POOL_SIZES.returns }, async ({ config, log, stop, sockets, core }) => {
    const returns = createReturns({ core, config, log, certificate: await ensureCertificate(config), sockets })
    await returns.listen()
    return { isServer: true, close: () => returns.close({ haveSuccessor: stop.isReplaced() || sockets.areKept }) }
  }),
)
