import { pause } from '@postrider/core'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Inbox, Received } from '../inbox.ts'
import type { Attempts } from './attempts.ts'
import type { Connections } from './connections.ts'
import { errorReply } from './error-reply.ts'
import type { Rejections } from './rejections.ts'
import type { ReportSender } from './report-sender.ts'

interface DataDependencies {
  readonly inbox: Inbox
  readonly attempts: Attempts
  readonly connections: Connections
  readonly rejections: Rejections
  readonly reports: ReportSender
}

/** DATA. Returns the text of the 250 reply, or undefined if the connection was closed instead. Throws an error reply. */
export async function data(
  dependencies: DataDependencies,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<string | undefined> {
  const { inbox } = dependencies
  const received = await inbox.receive(withinSize(stream))
  try {
    if (stream.sizeExceeded) throw errorReply({ code: 552, text: '5.3.4 The message is too large' })
    return await deliver(dependencies, received, session)
  } finally {
    await inbox.discard(received)
  }
}

async function deliver(
  { inbox, attempts, connections, rejections, reports }: DataDependencies,
  received: Received,
  session: SMTPServerSession,
): Promise<string | undefined> {
  const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
  let stored = ''
  let hungUp = false
  for (const { address } of session.envelope.rcptTo) {
    const played = attempts.behaviour(address, session)
    attempts.count(address, session)
    if (played?.at === 'dot') {
      rejections.add({ from, to: address, reply: played.reply })
      throw errorReply(played.reply)
    }
    if (played?.at === 'slow') await pause(played.milliseconds)
    if (played?.at === 'hangup') {
      hungUp = true
      rejections.add({ from, to: address, reply: undefined })
    }
    if (played?.at === 'hangup' && !played.stored) continue
    const header = played?.at === 'report' ? await inbox.headerOf(received) : undefined
    const entry = await inbox.add(from, address, received)
    stored = entry.id
    if (played?.at === 'report' && header) reports.send(played.kind, { entry, header }, from)
  }
  if (!hungUp) return `2.0.0 Ok: stored as ${stored}`
  connections.hangUp(session)
  return undefined
}

/** Reads and discards what exceeds the limit: the message is rejected at its end. */
async function* withinSize(stream: SMTPServerDataStream): AsyncGenerator<Buffer> {
  for await (const piece of stream) {
    if (!stream.sizeExceeded) yield piece
  }
}
