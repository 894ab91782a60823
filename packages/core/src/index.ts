/** The only public entry point of this package; thread entry modules import thread-orders.ts directly. */

export type { Account } from './accounts/account.ts'
export { REQUIREMENT_MODES, type RequirementMode } from './accounts/account-settings.ts'
export { type Actor, ALL_ACCOUNTS, type AuditEntry, type AuditValues, OPERATOR } from './accounts/audit/index.ts'
export type * from './accounts/credits/index.ts'
export type { AccountLimits, AccountSettings, MostDays } from './accounts/index.ts'
export {
  type ApiKey,
  allows,
  holderOf,
  type KeyChange,
  type KeySecret,
  type NewKey,
  type OperatorKey,
  type Principal,
  type RelayNetwork,
  type Restrictions,
  type RestrictionsChange,
  requireScope,
  SCOPES,
  type Scope,
  UNRESTRICTED,
} from './accounts/keys/index.ts'
export * from './accounts/mail-class.ts'
export {
  type Allowance,
  type Rate,
  type RateLimits,
  requireAllowed,
  type Standing,
} from './accounts/rate-limits/index.ts'
export type * from './accounts/subaccounts/index.ts'
export type { BuiltMessage } from './composition/built-message.ts'
export { oldestRemoval } from './composition/oldest-removal.ts'
export * from './content/checks/check-content.ts'
export * from './content/editable/index.ts'
export { fillLegacyTemplate, type LegacyTexts } from './content/editable/legacy-template.ts'
export type { TemplateName } from './content/engine/index.ts'
export * from './content/engine/index.ts'
export { ATTACHMENT_SIZE } from './content/files/file.ts'
export type { FileSummary } from './content/files/index.ts'
export {
  MAX_KEY_UNITS as MOST_KEY_UNITS,
  prepareSections,
  type Substitutions,
} from './content/substitution/sections.ts'
export { createSubstituter, type Substituter } from './content/substitution/substitutions.ts'
export * from './content/substitution/unsubscribe-tags.ts'
export {
  type AnyTemplate,
  type Template,
  type TemplateContent,
  type TemplateSummary,
  type TemplateVariable,
  type TemplateVersion,
  VARIABLE_TYPES,
  type VariableType,
  type VersionSummary,
} from './content/templates/index.ts'
export { type Core, type CoreDependencies, createCore } from './core.ts'
export * from './delivery/control/index.ts'
export * from './delivery/index.ts'
export * from './delivery/sources/index.ts'
export * from './delivery/tls/index.ts'
export type { DomainFinding } from './domains/checks/findings.ts'
export { type DnsHost, dnsHostOf } from './domains/dns-hosts.ts'
export type { DkimSigner, DnsRecord, Domain, DomainSigner, DomainWithRecords, SigningKey } from './domains/domain.ts'
export * from './domains/domain-overview.ts'
export { quotedStrings } from './domains/txt-strings.ts'
export * from './events/index.ts'
export * from './messages/index.ts'
export { type Address, addressKey, parseAddress, parseDomain } from './mime/address.ts'
export { type AsciiHeader, asciiHeader } from './mime/conformance/ascii-header.ts'
export type { BodyRules, ConformedBody } from './mime/conformance/body.ts'
export { type Edit, edited } from './mime/conformance/edits.ts'
export { splitFields } from './mime/end-of-field.ts'
export { mailboxField } from './mime/header.ts'
export { endOfName, isUserName, readMailboxes } from './mime/mailboxes.ts'
export { essenceOf, parseMediaType } from './mime/media-type.ts'
export type { MessageParts } from './mime/message-parts.ts'
export { decodeWords, readable } from './mime/words.ts'
export * from './people/index.ts'
export { backupAccess } from './platform/backups/backup-access.ts'
export {
  type BackupAccess,
  BackupError,
  type BackupStore,
  PATIENCE,
  type Patience,
  UNFINISHED_FILE,
} from './platform/backups/backup-store.ts'
export { BASE_BACKUPS, backupName, backupNames, summaryPath } from './platform/backups/base-backups.ts'
export { openBackupStore } from './platform/backups/open-backup-store.ts'
export { type Cache, createCache } from './platform/cache.ts'
export { type Clock, systemClock } from './platform/clock.ts'
export { type ByteBudget, createByteBudget } from './platform/concurrency/budget.ts'
export { createFairTurns, type FairTurns } from './platform/concurrency/fair-turns.ts'
export { garbageCollector, RELEASE_FROM_BYTES } from './platform/concurrency/garbage.ts'
export { createThreadPool, type ThreadPool } from './platform/concurrency/guarded-thread.ts'
export { Tally } from './platform/concurrency/tally.ts'
export { pause, timerDelay, within } from './platform/concurrency/timer-delay.ts'
export { atOnce, inTurns, type LongWork, longWork, type Stoppable } from './platform/concurrency/turns.ts'
export { startWatchedThread, ThreadStopped, type WatchedThread } from './platform/concurrency/watched-thread.ts'
export {
  asksDns,
  type BackupAddress,
  type BackupConfig,
  backupAddress,
  type Config,
  ConfigError,
  type DeliveryRoute,
  embeddedUrlFile,
  type RelayHost,
  readConfig,
  type SandboxRelay,
} from './platform/config/config.ts'
export { type MisspeltSetting, misspeltSettings, misspeltText, resembles } from './platform/config/misspelt-settings.ts'
export { parsePublicUrl } from './platform/config/public-url.ts'
export { SETTINGS } from './platform/config/settings.ts'
export { csvCell, unguardedCell } from './platform/csv-cell.ts'
export { type DatabaseActivity, readActivity } from './platform/database/activity.ts'
export { createGroupCommit, type GroupCommit } from './platform/database/commits/group-commit.ts'
export { connectProblem, STARTUP_PARAMETERS } from './platform/database/connect-problem.ts'
export {
  databaseErrorCode,
  isDatabaseAway,
  isDatabaseTrouble,
  openDatabase,
  openSession,
  type Sql,
} from './platform/database/database.ts'
export type { DatabaseHealth } from './platform/database/database-health.ts'
export { databaseRefusal } from './platform/database/database-refusal.ts'
export { DEADLINES, withDeadline } from './platform/database/deadlines.ts'
export {
  applyLaterMigrations,
  type LaterResult,
  type OlderProgram,
} from './platform/database/migrations/later-migrations.ts'
export {
  migrate,
  pendingMigrations,
  readSchemaState,
  type SchemaState,
  SchemaTooOld,
} from './platform/database/migrations/migrate.ts'
export { type PlannedMigration, planUpgrade, type UpgradePlan } from './platform/database/migrations/upgrade-plan.ts'
export {
  type DatabaseFacts,
  DatabaseUnfit,
  judgeNeed,
  type NeedName,
  PROBLEM_OF_POOLER,
  readDatabaseFacts,
  requireFitDatabase,
  sharesSessions,
  unmetText,
} from './platform/database/needs.ts'
export type { PendingWork, Work } from './platform/database/pending-work.ts'
export { connectionsOf, DATABASE_PROGRAMS, POOL_SIZES, STANDBY_POOL_SIZES } from './platform/database/pool-sizes.ts'
export { type Reads, replayState } from './platform/database/reads.ts'
export { clusterOf } from './platform/database/replication/read-replica.ts'
export { type RestoreState, readRestore } from './platform/database/replication/recovery-target.ts'
export {
  commitsWait,
  missingStandbys,
  type Replication,
  readReplication,
  readSyncStandby,
  type Standby,
  type SyncStandby,
} from './platform/database/replication/replication.ts'
export { findPrimaryHosts, findStandbyHosts, type PrimaryHost } from './platform/database/replication/standby-hosts.ts'
export { readServerState, type ServerState } from './platform/database/server-state.ts'
export { readTableState, type TableState } from './platform/database/table-state.ts'
export { defined } from './platform/defined.ts'
export { ERRORS, type ErrorName, type ErrorRow, invalidParameter, ServiceError } from './platform/errors.ts'
export { readIsoTime } from './platform/iso-time.ts'
export { tooDeepAt } from './platform/json-depth.ts'
export { count, forwardMetrics, measure, observe } from './platform/metrics/metrics.ts'
export { METRIC_TABLE, type MetricName, type MetricRow } from './platform/metrics/table.ts'
export { type DnsQuery, withDns } from './platform/net/dns-lookup.ts'
export { listenProblem, requireDistinctPorts } from './platform/net/listen-problem.ts'
export * from './platform/net/listening-sockets.ts'
export { isPrivateAddress, NetworkList, networkOf, plainAddress, siteNetworkOf } from './platform/net/networks.ts'
export * from './platform/net/outbound-http.ts'
export { type HealthAnswer, type HealthState, liveAnswer, readyAnswer } from './platform/process/health.ts'
export { collectWhenIdle } from './platform/process/idle-memory.ts'
export { createLog, type Log } from './platform/process/log.ts'
export {
  hasEnded as hasProcessEnded,
  identityOf,
  isStillRunning,
  type ProcessIdentity,
  startOf,
} from './platform/process/process-identity.ts'
export * from './platform/process/process-list.ts'
export {
  buildText,
  commandLines,
  type ProgramBuild,
  programBuild,
  startLine,
} from './platform/process/program-version.ts'
export { standbyProblems } from './platform/process/readiness.ts'
export { release } from './platform/process/release.ts'
export { createSpeech, logWarnings, type Speech } from './platform/process/speech.ts'
export { REPLACED, type StopState } from './platform/process/stop-signals.ts'
export { type Certificate, certificateFile, ensureCertificate } from './platform/security/certificate.ts'
export { secretAgrees } from './platform/security/key-agreement.ts'
export {
  createKeyRotation,
  type KeyState,
  keyMark,
  SETTLE_MS,
  type SealedCount,
  type UnawareProgram,
  UnawareProgramsError,
} from './platform/security/key-rotation.ts'
export {
  createSecrets,
  findSecretKey,
  findSecrets,
  loadSecrets,
  type Secrets,
  secretKeyFile,
} from './platform/security/secrets.ts'
export * from './platform/storage/object-store.ts'
export { syncFolder } from './platform/storage/sync-folder.ts'
export { readKept, writeOnce } from './platform/storage/write-once.ts'
export { forwardSpans, type SpanAttributes, startSpan, traceTime } from './platform/tracing/tracing.ts'
export { written } from './platform/written.ts'
export {
  ALIVE_EVERY_MS,
  EXIT_CONFIG,
  type ProcessContext,
  type RunningProcess,
  requireDatabase,
  runProcess,
  type ServiceContext,
  withCore,
} from './process.ts'
export * from './raw/index.ts'
export * from './reporting/event-log/index.ts'
export * from './reporting/events/index.ts'
export type * from './reporting/exports/index.ts'
export type * from './reporting/failures/index.ts'
export type * from './reporting/statistics/index.ts'
export { MAILBOX_PROVIDERS, OTHER_PROVIDERS } from './reporting/statistics/mailbox-providers.ts'
export * from './reporting/webhooks/index.ts'
export * from './reputation/evidence/index.ts'
export type * from './reputation/guard/index.ts'
export * from './reputation/index.ts'
export * from './reputation/provider-figures/index.ts'
export { REPUTATION_RULES } from './reputation/rules.ts'
export { isOwner, notOwned } from './retention/body-objects.ts'
export * from './retention/deletion/index.ts'
export type * from './retention/privacy/index.ts'
export { markRestored, type Restored } from './retention/restored.ts'
export { type DataCounts, type VerifiedData, verifyData } from './retention/verify-data.ts'
export * from './returns/index.ts'
export { isFieldName, isMessageId, isReservedField, valueProblem } from './submission/header-rules.ts'
export { JSON_LIMIT, jsonLength, MEASURED_FROM } from './submission/json-length.ts'
export { hasOneClick } from './submission/one-click.ts'
export { readDeadline } from './submission/read-deadline.ts'
export { parseScheduleTime, type ScheduleTime } from './submission/schedule-time.ts'
export { countRecipients } from './submission/share.ts'
export { singleMessage } from './submission/single-message.ts'
export type * from './submission/status-notifications.ts'
export { NOTIFY_WORDS } from './submission/status-notifications.ts'
export { MAX_CSV_BYTES, readSuppressionCsv, suppressionCsv } from './suppressions/csv.ts'
export type * from './suppressions/groups.ts'
export {
  ACCOUNT_REASONS,
  type BrowsedSuppression,
  type BrowseFilter,
  COUNTED,
  EVERY_ACCOUNT,
  type ImportRow,
  SUPPRESSION_REASONS,
  SUPPRESSION_RULES,
  type Suppression,
  type SuppressionCause,
  type SuppressionReason,
  type SuppressionRule,
} from './suppressions/index.ts'
export * from './tracking/index.ts'
