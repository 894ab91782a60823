import type { Command } from '../command.ts'
import { accountCommands } from './account.ts'
import { accountStandingCommands } from './account-standing.ts'
import { attachmentCommands } from './attachment.ts'
import { auditCommands } from './audit.ts'
import { backupCommands } from './backup.ts'
import { batchCommands } from './batch.ts'
import { certificateCommands } from './certificate.ts'
import { completionCommands } from './completion.ts'
import { creditsCommands } from './credits.ts'
import { dmarcCommands } from './dmarc.ts'
import { dnsCommands } from './dns.ts'
import { doctorCommands } from './doctor.ts'
import { domainCommands } from './domain.ts'
import { editableTemplateCommands } from './editable-template.ts'
import { eventCommands } from './events.ts'
import { exportCommands } from './export.ts'
import { failedAddressCommands } from './failed-address.ts'
import { groupCommands } from './group.ts'
import { importCommands } from './import.ts'
import { inboxCommands } from './inbox.ts'
import { keyCommands } from './key.ts'
import { messageCommands } from './message.ts'
import { operateCommands } from './operate.ts'
import { personCommands } from './person.ts'
import { planCommands } from './plan.ts'
import { poolCommands } from './pool.ts'
import { providerCommands } from './provider.ts'
import { evidenceCommands } from './provider-evidence.ts'
import { providerFigureCommands } from './provider-figures.ts'
import { queueCommands } from './queue.ts'
import { restoredCommands } from './restored.ts'
import { returnCommands } from './returns.ts'
import { schemaCommands } from './schema.ts'
import { secretCommands } from './secret.ts'
import { smartHostCommands } from './smart-host.ts'
import { sourceCommands } from './source.ts'
import { statsCommands } from './stats.ts'
import { subaccountCommands } from './subaccount.ts'
import { suppressionCommands } from './suppression.ts'
import { suppressionFileCommands } from './suppression-file.ts'
import { templateCommands } from './template.ts'
import { tlsCommands } from './tls.ts'
import { tlsReportCommands } from './tls-reports.ts'
import { upCommands } from './up.ts'
import { userCommands } from './user.ts'
import { webhookCommands } from './webhook.ts'

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...upCommands,
  ...schemaCommands,
  ...operateCommands,
  ...planCommands,
  ...doctorCommands,
  ...backupCommands,
  ...restoredCommands,
  ...certificateCommands,
  ...secretCommands,
  ...completionCommands,
  ...accountCommands,
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
  ...queueCommands,
  ...sourceCommands,
  ...poolCommands,
  ...smartHostCommands,
  ...tlsCommands,
  ...statsCommands,
  ...auditCommands,
  ...eventCommands,
  ...exportCommands,
  ...webhookCommands,
  ...personCommands,
  ...inboxCommands,
]
