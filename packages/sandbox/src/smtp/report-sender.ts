import { setTimeout as pause } from 'node:timers/promises'
import type { Config, Log } from '@postrider/core'
import { createTransport } from 'nodemailer'
import { makeReport, type Report, type Reported, type ReportKind } from './reports.ts'

/** Milliseconds before a report is sent: the service records first that the message was delivered. */
const DELAY_MS = 500
/** Tries, and milliseconds between them, if the service does not take the report at once. */
const TRIES = 10
const RETRY_MS = 2000

/** Sends reports to the service, as the providers do that the sandbox simulates. */
export interface ReportSender {
  /** Returns at once. */
  send(kind: ReportKind, reported: Reported, returnPath: string): void
  close(): void
}

export function createReportSender(
  { returnsHost, returnsPort, returnPathHost }: Pick<Config, 'returnsHost' | 'returnsPort' | 'returnPathHost'>,
  log: Log,
): ReportSender {
  const closing = new AbortController()
  const transport = createTransport({
    host: returnsHost,
    port: returnsPort,
    name: 'sandbox.test',
    tls: { rejectUnauthorized: false },
  })

  async function deliver({ from, to, raw }: Report): Promise<void> {
    await pause(DELAY_MS, undefined, { signal: closing.signal })
    for (let tries = 1; ; tries++) {
      try {
        await transport.sendMail({ envelope: { from, to }, raw })
        return
      } catch (error) {
        const isFinal = ((error as { responseCode?: number }).responseCode ?? 0) >= 500
        if (isFinal || tries === TRIES) throw error
        await pause(RETRY_MS, undefined, { signal: closing.signal })
      }
    }
  }

  return {
    send(kind, reported, returnPath) {
      const addresses = { returnPath, feedback: `fbl@${returnPathHost}` }
      deliver(makeReport(kind, reported, addresses)).catch((err: unknown) => {
        if (!closing.signal.aborted) log.warn({ err, kind }, 'the service did not take a report')
      })
    },
    close() {
      closing.abort()
      transport.close()
    },
  }
}
