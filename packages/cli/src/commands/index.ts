import type { Command } from '../command.ts'
import { accountCommands } from './accounts/account.ts'
import { accountDeletionCommands } from './accounts/account-deletion.ts'
import { accountStandingCommands } from './accounts/account-standing.ts'
import { auditCommands } from './accounts/audit.ts'
import { creditsCommands } from './accounts/credits.ts'
import { keyCommands } from './accounts/key.ts'
import { personCommands } from './accounts/person.ts'
import { subaccountCommands } from './accounts/subaccount.ts'
import { userCommands } from './accounts/user.ts'
import { attachmentCommands } from './content/attachment.ts'
import { editableTemplateCommands } from './content/editable-template.ts'
import { templateCommands } from './content/template.ts'
import { dmarcCommands } from './domains/dmarc.ts'
import { dnsCommands } from './domains/dns.ts'
import { domainCommands } from './domains/domain.ts'
import { tlsCommands } from './domains/tls.ts'
import { tlsReportCommands } from './domains/tls-reports.ts'
import { backupCommands } from './installation/backup.ts'
import { certificateCommands } from './installation/certificate.ts'
import { clockCommands } from './installation/clock.ts'
import { completionCommands } from './installation/completion.ts'
import { doctorCommands } from './installation/doctor.ts'
import { importCommands } from './installation/import.ts'
import { initCommands } from './installation/init.ts'
import { mcpCommands } from './installation/mcp.ts'
import { operateCommands } from './installation/operate.ts'
import { planCommands } from './installation/plan.ts'
import { restoredCommands } from './installation/restored.ts'
import { schemaCommands } from './installation/schema.ts'
import { secretCommands } from './installation/secret.ts'
import { settingsCommands } from './installation/settings.ts'
import { unitCommands } from './installation/unit.ts'
import { upCommands } from './installation/up.ts'
import { batchCommands } from './messages/batch.ts'
import { eventCommands } from './messages/events.ts'
import { exportCommands } from './messages/export.ts'
import { inboxCommands } from './messages/inbox.ts'
import { messageCommands } from './messages/message.ts'
import { providerCommands } from './queue/provider.ts'
import { evidenceCommands } from './queue/provider-evidence.ts'
import { providerFigureCommands } from './queue/provider-figures.ts'
import { queueCommands } from './queue/queue.ts'
import { topCommands } from './queue/top.ts'
import { returnCommands } from './reporting/returns.ts'
import { statsCommands } from './reporting/stats.ts'
import { webhookCommands } from './reporting/webhook.ts'
import { poolCommands } from './routing/pool.ts'
import { relayNetworkCommands } from './routing/relay-network.ts'
import { smartHostCommands } from './routing/smart-host.ts'
import { sourceCommands } from './routing/source.ts'
import { failedAddressCommands } from './suppressions/failed-address.ts'
import { groupCommands } from './suppressions/group.ts'
import { suppressionCommands } from './suppressions/suppression.ts'
import { suppressionFileCommands } from './suppressions/suppression-file.ts'

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...upCommands,
  ...initCommands,
  ...unitCommands,
  ...settingsCommands,
  ...schemaCommands,
  ...operateCommands,
  ...planCommands,
  ...doctorCommands,
  ...backupCommands,
  ...restoredCommands,
  ...certificateCommands,
  ...secretCommands,
  ...mcpCommands,
  ...clockCommands,
  ...completionCommands,
  ...accountCommands,
  ...accountDeletionCommands,
  ...accountStandingCommands,
  ...subaccountCommands,
  ...userCommands,
  ...creditsCommands,
  ...keyCommands,
  ...domainCommands,
  ...dnsCommands,
  ...templateCommands,
  ...editableTemplateCommands,
  ...attachmentCommands,
  ...groupCommands,
  ...suppressionCommands,
  ...suppressionFileCommands,
  ...failedAddressCommands,
  ...returnCommands,
  ...dmarcCommands,
  ...tlsReportCommands,
  ...importCommands,
  ...messageCommands,
  ...batchCommands,
  ...providerCommands,
  ...evidenceCommands,
  ...providerFigureCommands,
  ...topCommands,
  ...queueCommands,
  ...sourceCommands,
  ...poolCommands,
  ...smartHostCommands,
  ...relayNetworkCommands,
  ...tlsCommands,
  ...statsCommands,
  ...auditCommands,
  ...eventCommands,
  ...exportCommands,
  ...webhookCommands,
  ...personCommands,
  ...inboxCommands,
]
