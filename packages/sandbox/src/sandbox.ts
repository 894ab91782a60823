import { join } from 'node:path'
import {
  createOutboundHttp,
  ensureCertificate,
  findSecrets,
  type InheritedSockets,
  listen,
  NO_SOCKETS,
  type ProcessContext,
  type RunningProcess,
  stopListening,
  systemClock,
} from '@postrider/core'
import type { SMTPServer } from 'smtp-server'
import { createSandboxHttp } from './http/http.ts'
import { Outcomes } from './http/outcomes.ts'
import { Waits } from './http/waits.ts'
import { Watchers } from './http/watchers.ts'
import { Inbox } from './inbox.ts'
import type { InboxEntry } from './inbox-entry.ts'
import { LinkJudge } from './outgoing/link-judge.ts'
import { LinkRequests } from './outgoing/link-requests.ts'
import { Releases } from './outgoing/release.ts'
import { createMessageReader } from './reading/message-reader.ts'
import { Digests } from './search/digests.ts'
import { Finder } from './search/finder.ts'
import { Rejections } from './smtp/rejections.ts'
import { createReportSender } from './smtp/report-sender.ts'
import { createSandboxSmtp } from './smtp/smtp.ts'

/** Starts the sandbox: its SMTP and HTTP servers, with a common inbox in DATA_DIR. */
export async function startSandbox(
  {
    config,
    log,
    sockets = NO_SOCKETS,
  }: Pick<ProcessContext, 'config' | 'log'> & { readonly sockets?: InheritedSockets },
  clock = systemClock,
): Promise<RunningProcess> {
  const reader = createMessageReader()
  const [watchers, arrivals] = [new Watchers(), new Watchers()]
  const notify = (added?: InboxEntry) => {
    watchers.notify()
    arrivals.notify(added)
  }
  const inbox = new Inbox(join(config.dataDir, 'inbox'), reader, notify)
  const finder = new Finder(inbox, new Digests(inbox, reader, notify))
  const waits = new Waits(inbox, finder, arrivals)
  const rejections = new Rejections(notify)
  const certificate = await ensureCertificate(config)
  const reports = createReportSender(config, log)
  const smtp = createSandboxSmtp({ inbox, rejections, reports, certificate, name: 'sandbox', log, clock })
  await listen(smtp.server, sockets.target('sandbox-smtp', config.sandboxHost, config.sandboxSmtpPort))
  const { publicUrl, dnsServers } = config
  const judge = new LinkJudge(() => findSecrets(config))
  const requests = new LinkRequests({
    isAllowed: config.sandboxRequests,
    publicUrl,
    http: createOutboundHttp(config),
    judge,
  })
  const releases = new Releases(config.sandboxRelay)
  const outcomes = new Outcomes()
  const http = await createSandboxHttp(
    { inbox, reader, finder, rejections, judge, requests, releases, outcomes, watchers, waits, publicUrl, dnsServers },
    config,
  )
  const fd = sockets.fd('sandbox-http')
  if (fd === undefined) {
    await http.listen({ host: config.sandboxHost, port: config.sandboxHttpPort })
  } else {
    await http.ready()
    await listen(http.server, { fd })
  }
  return {
    async close() {
      await http.close()
      if (sockets.fd('sandbox-smtp') !== undefined) await finishMessages(smtp)
      await new Promise<void>((resolve) => {
        smtp.close(() => resolve())
        // Sessions kept open by idle workers are not waited for.
        for (const connection of smtp.connections) connection.close()
      })
      reports.close()
      releases.close()
      inbox.close()
      await reader.close()
    },
  }
}

/** Milliseconds for messages in progress, as the relay gives its sessions, and between two looks at them. */
const FINISH_MS = 6000
const FINISH_STEP_MS = 50

/**
 * Receives the messages that are in progress, and the first ones of sessions that have just begun; new sessions wait for the next sandbox. Without this,
 * their deliveries would be deferred.
 */
async function finishMessages({ server, connections }: SMTPServer): Promise<void> {
  void stopListening(server)
  // Until smtp-server sends the greeting, after 100 ms, a session has no number of its message.
  const isFirst = ({ transaction }: { readonly transaction?: number }) => transaction === undefined || transaction === 1
  const isReceiving = () => [...connections].some(({ session }) => session.envelope?.mailFrom || isFirst(session))
  for (let waited = 0; isReceiving() && waited < FINISH_MS; waited += FINISH_STEP_MS) {
    await new Promise((resolve) => setTimeout(resolve, FINISH_STEP_MS))
  }
}
