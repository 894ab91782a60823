import type { Inbox } from '../inbox.ts'
import type { Releases } from '../outgoing/release.ts'
import type { Rejections } from '../smtp/rejections.ts'

/** Answers of Mailpit's that say what the program is and does. */
export function infoOf(inbox: Inbox, rejections: Rejections, version: string) {
  const { marks, counts } = inbox
  const rows = inbox.rows()
  return {
    Version: version,
    LatestVersion: version,
    Database: '',
    DatabaseSize: rows.reduce((sum, { entries }) => sum + entries[0].size, 0),
    Messages: rows.length,
    Unread: rows.filter(({ message }) => !marks.isRead(message)).length,
    Tags: Object.fromEntries(marks.allTags()),
    RuntimeStats: {
      Uptime: Math.floor(process.uptime()),
      Memory: process.memoryUsage.rss(),
      MessagesDeleted: counts.removed,
      SMTPAccepted: counts.received,
      SMTPAcceptedSize: counts.octets,
      SMTPRejected: rejections.total,
      SMTPIgnored: 0,
    },
  }
}

export function webUiOf(releases: Releases) {
  const { settings } = releases
  return {
    Label: 'Postrider',
    MessageRelay: {
      Enabled: settings !== undefined,
      SMTPServer: settings?.server ?? '',
      ReturnPath: '',
      AllowedRecipients: settings?.recipients.join(', ') ?? '',
      BlockedRecipients: '',
      OverrideFrom: '',
      PreserveMessageIDs: true,
    },
    SpamAssassin: false,
    ChaosEnabled: false,
    DuplicatesIgnored: false,
    HideDeleteAllButton: false,
  }
}
