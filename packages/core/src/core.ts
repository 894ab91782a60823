import { type Audit, auditOf } from './accounts/audit/index.ts'
import { type Credits, creditsOf } from './accounts/credits/index.ts'
import { type Accounts, accountsOf } from './accounts/index.ts'
import { type Auth, authOf } from './accounts/keys/index.ts'
import { type RateLimits, rateLimitsOf } from './accounts/rate-limits/index.ts'
import { type Subaccounts, subaccountsOf } from './accounts/subaccounts/index.ts'
import { type EditableTemplates, editableTemplatesOf } from './content/editable/index.ts'
import { createDynamicRenderer } from './content/engine/index.ts'
import { type Attachments, attachmentsOf } from './content/files/index.ts'
import { type Templates, templatesOf } from './content/templates/index.ts'
import { announcer, type Deliveries, deliveriesOf } from './delivery/index.ts'
import { type Domains, domainsOf } from './domains/index.ts'
import { type Batches, batchesOf, EVERYTHING, type Messages, messagesOf, type Share } from './messages/index.ts'
import { createByteBudget } from './platform/budget.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import type { Sql } from './platform/database/database.ts'
import { databaseClock } from './platform/database/database-clock.ts'
import { within } from './platform/database/deadlines.ts'
import { ensurePartitions } from './platform/database/partitions.ts'
import type { Log } from './platform/log.ts'
import { createOutboundHttp } from './platform/outbound-http.ts'
import { type ReadinessWatch, watchReadiness } from './platform/readiness.ts'
import { createSecrets, loadSecretKey } from './platform/secrets.ts'
import { type EventLog, eventLogOf } from './reporting/event-log/index.ts'
import { type Events, eventsOf } from './reporting/events/index.ts'
import { type Exports, exportsOf } from './reporting/exports/index.ts'
import { rollUp, type Stats, statsOf } from './reporting/statistics/index.ts'
import { type Webhooks, webhooksOf } from './reporting/webhooks/index.ts'
import { type Retention, retentionOf } from './retention/index.ts'
import { type Privacy, privacyOf } from './retention/privacy/index.ts'
import { forgottenOf } from './suppressions/forgotten.ts'
import { type Groups, groupsOf } from './suppressions/groups.ts'
import { type Suppressions, suppressionsOf } from './suppressions/index.ts'
import { type Tracking, trackingOf } from './tracking/index.ts'

/** The domain logic of the service, one property per domain. */
export interface Core {
  readonly accounts: Accounts
  readonly audit: Audit
  readonly auth: Auth
  readonly credits: Credits
  readonly subaccounts: Subaccounts
  readonly rateLimits: RateLimits
  readonly domains: Domains
  readonly templates: Templates
  readonly editableTemplates: EditableTemplates
  readonly attachments: Attachments
  readonly suppressions: Suppressions
  readonly groups: Groups
  readonly messages: Messages
  readonly batches: Batches
  readonly deliveries: Deliveries
  readonly events: Events
  readonly tracking: Tracking
  readonly stats: Stats
  readonly eventLog: EventLog
  readonly exports: Exports
  readonly privacy: Privacy
  readonly retention: Retention
  readonly webhooks: Webhooks
  readonly readiness: ReadinessWatch
  /** The database's time, used for message timestamps. */
  readonly clock: Clock
  /**
   * Periodic cleanup that any process may run: creates partitions ahead of time and deletes expired idempotency keys,
   * rate-limit windows, suppressions, export files and batches.
   */
  readonly tidy: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface CoreDependencies {
  readonly sql: Sql
  readonly config: Config
  readonly log: Log
  readonly clock?: Clock
  /** Limits on what one call may use of the process; unlimited if omitted. */
  readonly share?: Share
}

// One function, since it only wires: each domain is built from those above it.
export function createCore({
  sql: pool,
  config,
  log,
  clock: hostClock = systemClock,
  share = EVERYTHING,
}: CoreDependencies): Core {
  const secretKey = loadSecretKey(config.secretKey, config.dataDir)
  const secrets = createSecrets(secretKey)
  const clock = databaseClock(hostClock)
  const { allowUnsafeDatabase } = config
  const readiness = watchReadiness({ sql: pool, log, secrets, clock, allowUnsafeDatabase })
  // Both share one pool. Statements that mail waits for have the shorter deadline.
  const [sql, work] = [within(pool, 'mail'), within(pool, 'work')]
  const rateLimits = rateLimitsOf(sql)
  const domains = domainsOf({ sql, secrets, rateLimits, config })
  const templates = templatesOf(sql)
  const renderer = createDynamicRenderer()
  const editableTemplates = editableTemplatesOf(sql, renderer)
  const batches = batchesOf(sql)
  const attachments = attachmentsOf({ sql, capacity: config.attachmentStorage })
  const { callsPerMinute, wrongKeysPerMinute } = config
  const auth = authOf({ sql, log, rateLimits, callsPerMinute, wrongKeysPerMinute })
  const forgotten = forgottenOf({ sql, secrets })
  const suppressions = suppressionsOf({ sql: work, secrets, forgotten })
  const messages = messagesOf({
    share,
    sql,
    clock,
    domains,
    rateLimits,
    templates,
    editableTemplates,
    batches,
    renderer,
    attachments,
    storedBudget: createByteBudget(config.bodyBudget),
    forgotten,
    heloName: config.heloName,
    links: { secrets, publicUrl: config.publicUrl, trackingScheme: config.trackingScheme },
    secretKey,
    ready: () => readiness.current().ready,
    announce: announcer(sql),
    onFull: readiness.noteFull,
  })
  const tracking = trackingOf({ sql, secrets, log })
  const http = createOutboundHttp(config)
  const exports = exportsOf({ sql: work, secrets, config, messages, principalOf: auth.principalOf, http })
  return {
    accounts: accountsOf(work, config),
    audit: auditOf(work),
    credits: creditsOf(work),
    subaccounts: subaccountsOf(work),
    auth,
    rateLimits,
    domains,
    templates,
    editableTemplates,
    attachments,
    suppressions,
    groups: groupsOf(work),
    messages,
    batches,
    exports,
    privacy: privacyOf({ sql: work, secrets, forgotten }),
    deliveries: deliveriesOf({
      sql,
      log,
      // The database is open by now, so the URL is set.
      databaseUrl: config.databaseUrl ?? '',
      secrets,
      clock: hostClock,
      forgotten,
      hardBounceDays: config.hardBounceDays,
    }),
    events: eventsOf({ sql: work, alongside: rollUp }),
    stats: statsOf(work),
    eventLog: eventLogOf({ sql: work, secrets }),
    tracking,
    retention: retentionOf(work, config),
    webhooks: webhooksOf({ sql: work, secrets, http }),
    readiness,
    clock,
    tidy: () =>
      tidy(work, [
        messages.forgetOldAnswers,
        rateLimits.forgetOldWindows,
        suppressions.forgetEnded,
        exports.forgetOld,
        batches.forgetOld,
      ]),
    async close() {
      readiness.close()
      await Promise.all([auth.close(), tracking.close(), renderer.close(), messages.close()])
      await pool.end({ timeout: 5 })
    },
  }
}

/** Creates partitions, and calls each of the functions until it has nothing left to delete. */
async function tidy(sql: Sql, forgetting: readonly (() => Promise<number>)[]): Promise<void> {
  const all = async (forget: () => Promise<number>) => {
    while ((await forget()) > 0);
  }
  await Promise.all([ensurePartitions(sql), ...forgetting.map(all)])
}
