import { freePort, type Running, start } from '../harness/processes.ts'

export interface SenderOptions {
  readonly url: string
  readonly sinkPort: number
  readonly sign?: boolean
  /** Takes what the process prints after each message: when what was done. */
  readonly onSteps?: (steps: Readonly<Record<string, number>>) => void
}

const CONNECTIONS = 20

export function startSender({ url, sinkPort, sign = true, onSteps }: SenderOptions): Promise<Running> {
  const order = { url, port: sinkPort, connections: CONNECTIONS, sign, steps: onSteps !== undefined }
  return startPrinting(['bench/load/bare-sender.ts', JSON.stringify(order)], onSteps)
}

/** bare-relay.ts and bare-sender.ts on one Postgres: mail that is stored before its 250, signed, and sent to the sink. */
export async function startChain(options: SenderOptions): Promise<{ port: number; relay: Running; sender: Running }> {
  const sender = await startSender(options)
  const port = await freePort()
  const steps = options.onSteps ? ['steps'] : []
  const args = ['bench/load/bare-relay.ts', String(port), options.url, ...steps]
  return { port, sender, relay: await startPrinting(args, options.onSteps) }
}

/** Resolves once it works. Each further line that it prints is a JSON object. */
async function startPrinting(args: readonly string[], onSteps: SenderOptions['onSteps']): Promise<Running> {
  if (!onSteps) return start(process.execPath, args, { ready: /started/ })
  const started = Promise.withResolvers<void>()
  let text = ''
  const running = await start(process.execPath, args, {
    output(piece) {
      const lines = (text + piece).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        if (line === 'started') started.resolve()
        else onSteps(JSON.parse(line) as Record<string, number>)
      }
    },
  })
  await started.promise
  return running
}
