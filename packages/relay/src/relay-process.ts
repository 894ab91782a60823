import { ensureCertificate, POOL_SIZES, runProcess, withCore } from '@postrider/core'
import { createRelay } from './relay.ts'

/** The relay process. Any number of them can run, on any number of hosts. */
await runProcess(
  { name: 'relay', env: process.env },
  withCore({ name: 'relay', connections: POOL_SIZES.relay }, async ({ config, log, stop, sockets, core }) => {
    const relay = createRelay({ core, config, log, certificate: await ensureCertificate(config), sockets })
    await relay.listen()
    return { isServer: true, close: () => relay.close({ haveSuccessor: stop.isReplaced() || sockets.areKept }) }
  }),
)
