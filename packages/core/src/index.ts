/** The only door into this package; the bodies of threads take thread-orders.ts alone. */

export type { Account } from './accounts/account.ts'
export type { AccountLimits, AccountSettings, MostDays } from './accounts/index.ts'
export type { FileSummary } from './attachments/index.ts'
export { type Actor, type AuditEntry, OPERATOR } from './audit/index.ts'
export {
  type ApiKey,
  allows,
  holderOf,
  type KeyChange,
  type KeySecret,
  type Principal,
  type Restrictions,
  type RestrictionsChange,
  requireScope,
  SCOPES,
  type Scope,
} from './auth/index.ts'
export { type ByteBudget, createByteBudget } from './budget.ts'
export { type Cache, createCache } from './cache.ts'
export { type Certificate, certificateFile, ensureCertificate } from './certificate.ts'
export { type Clock, systemClock } from './clock.ts'
export { type Config, ConfigError, type DeliveryRoute, embeddedUrlFile, readConfig } from './config.ts'
export { type Core, type CoreDependencies, createCore } from './core.ts'
export type * from './credits/index.ts'
export { csvCell, unguardedCell } from './csv-cell.ts'
export { isDatabaseAway, isDatabaseTrouble, openDatabase, type Sql } from './database.ts'
export { databaseRefusal } from './database-refusal.ts'
export { DEADLINES, within } from './deadlines.ts'
export * from './delivery/index.ts'
export type { DkimSigner, DnsRecord, Domain, DomainSigner, DomainWithRecords } from './domains/domain.ts'
export { ERRORS, type ErrorName, type ErrorRow, invalidParameter, ServiceError } from './errors.ts'
export * from './event-log/index.ts'
export * from './events/index.ts'
export type * from './exports/index.ts'
export { garbageCollector } from './garbage.ts'
export { createGroupCommit, type GroupCommit } from './group-commit.ts'
export { createThreadPool, type ThreadPool, ThreadStopped } from './guarded-thread.ts'
export { createLog, type Log } from './log.ts'
export * from './messages/index.ts'
export { migrate, pendingMigrations } from './migrate.ts'
export { isPrivateAddress, NetworkList, plainAddress } from './networks.ts'
export * from './outbound-http.ts'
export type * from './privacy/index.ts'
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
export { type Rate, type RateLimits, requireAllowed, type Standing } from './rate-limits/index.ts'
export { type Address, parseAddress, parseDomain } from './recipients/address.ts'
export { release } from './release.ts'
export { createSecrets } from './secrets.ts'
export { SETTINGS } from './settings.ts'
export type * from './stats/index.ts'
export { MAILBOX_PROVIDERS, OTHER_PROVIDERS } from './stats/mailbox-providers.ts'
export type * from './subaccounts/index.ts'
export type * from './suppressions/groups.ts'
export {
  ACCOUNT_REASONS,
  type BrowsedSuppression,
  type BrowseFilter,
  COUNTED,
  EVERY_ACCOUNT,
  type ImportRow,
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from './suppressions/index.ts'
export * from './templates/dynamic/index.ts'
export * from './templates/editable/index.ts'
export {
  type Template,
  type TemplateContent,
  type TemplateSummary,
  type TemplateVariable,
  type TemplateVersion,
  VARIABLE_TYPES,
  type VersionSummary,
} from './templates/index.ts'
export { fillLegacyTemplate, type LegacyTexts } from './templates/legacy-template.ts'
export { hasTooMany, MOST_KEY_UNITS, prepareSections, type Substitutions, TOO_MANY_KEYS } from './templates/sections.ts'
export { createSubstituter, type Substituter } from './templates/substitutions.ts'
export * from './templates/unsubscribe-tags.ts'
export {
  HITS_AN_HOUR,
  MACHINE_RULES_VERSION,
  makeTrackingToken,
  optOutHash,
  REQUEST_RULES,
  type Reader,
  type Tracking,
  type TrackingTarget,
} from './tracking/index.ts'
export { atOnce, inTurns, type LongWork, longWork, type Stoppable } from './turns.ts'
export * from './webhooks/index.ts'
export { readKept, syncFolder, writeOnce } from './write-once.ts'
