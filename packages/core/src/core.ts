import { type Audit, createAudit } from './accounts/audit/index.ts'
import { type Credits, createCredits } from './accounts/credits/index.ts'
import { type Accounts, createAccounts } from './accounts/index.ts'
import { type Auth, createAuth, createRelayNetworks, type RelayNetworks } from './accounts/keys/index.ts'
import { createRateLimits, type RateLimits } from './accounts/rate-limits/index.ts'
import { createSubaccounts, type Subaccounts } from './accounts/subaccounts/index.ts'
import { openBodyStore } from './composition/body-objects.ts'
import { createEditableTemplates, type EditableTemplates } from './content/editable/index.ts'
import { createDynamicRenderer } from './content/engine/index.ts'
import { type Attachments, createAttachments } from './content/files/index.ts'
import { createTemplates, type Templates } from './content/templates/index.ts'
import {
  createQueueControl,
  createServiceTimes,
  type QueueControl,
  type ServiceTimes,
} from './delivery/control/index.ts'
import { createAnnouncer, createDeliveries, type Deliveries } from './delivery/index.ts'
import { createSourceChecks, createSources, type SourceChecks, type Sources } from './delivery/sources/index.ts'
import { createTls, type Tls } from './delivery/tls/index.ts'
import { createDomains, type Domains } from './domains/index.ts'
import type { GivenKey } from './domains/keys/dkim-key.ts'
import { type Batches, batchesOf, createMessages, EVERYTHING, type Messages, type Share } from './messages/index.ts'
import { logAccepted } from './messages/log-accepted.ts'
import { createFinishedSource } from './messages/requeue/finished-source.ts'
import { ownIdentity } from './messages/rules/sender-operations.ts'
import { createServiceMail } from './messages/service-mail.ts'
import { type AgentPlans, createAgentPlans } from './people/agent-plans.ts'
import { createPeople, type People } from './people/index.ts'
import { moveSessions } from './people/sessions.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { createByteBudget } from './platform/concurrency/budget.ts'
import type { Config } from './platform/config/config.ts'
import { cleanUp } from './platform/database/clean-up.ts'
import { createLockWatch } from './platform/database/commits/lock-watch.ts'
import type { Sql } from './platform/database/database.ts'
import { type DatabaseClock, databaseClock } from './platform/database/database-clock.ts'
import { type DatabaseHealth, readDatabaseHealth } from './platform/database/database-health.ts'
import { withDeadline } from './platform/database/deadlines.ts'
import { createSchema, type Schema } from './platform/database/migrations/schema.ts'
import { createPendingWork, type PendingWork } from './platform/database/pending-work.ts'
import type { Reads } from './platform/database/reads.ts'
import { openReads } from './platform/database/replication/read-sources.ts'
import type { Measured } from './platform/metrics/metrics.ts'
import { createOutboundHttp } from './platform/net/outbound-http.ts'
import type { Log } from './platform/process/log.ts'
import { type ListedProcess, listProcesses } from './platform/process/process-list.ts'
import { type ReadinessWatch, watchReadiness } from './platform/process/readiness.ts'
import { createKeyRotation, type KeyRotation } from './platform/security/key-rotation.ts'
import { PASSWORD_COST, type PasswordCost } from './platform/security/passwords.ts'
import { loadSecrets } from './platform/security/secrets.ts'
import { createEventLog, type EventLog } from './reporting/event-log/index.ts'
import { createEvents, type Events } from './reporting/events/index.ts'
import { createExports, type Exports } from './reporting/exports/index.ts'
import { createFailures, type Failures } from './reporting/failures/index.ts'
import { createServiceFigures } from './reporting/service-figures.ts'
import { createStats, rollUp, type Stats } from './reporting/statistics/index.ts'
import { createNotificationMail, type NotificationMail } from './reporting/status-notifications/index.ts'
import { createTlsReports, type TlsReports } from './reporting/tls-reports/index.ts'
import { createWebhooks, type Webhooks } from './reporting/webhooks/index.ts'
import { createEvidencePacks, type EvidencePacks } from './reputation/evidence/index.ts'
import { createGuard, type Guard } from './reputation/guard/index.ts'
import { createReputation, type Reputation } from './reputation/index.ts'
import { createProviderFigures, type ProviderFigures } from './reputation/provider-figures/index.ts'
import { createRetention, type Retention } from './retention/index.ts'
import { createPrivacy, type Privacy } from './retention/privacy/index.ts'
import { type AggregateReports, createAggregateReports } from './returns/aggregate/index.ts'
import { createReturns, type Returns } from './returns/index.ts'
import { SEALED_COLUMNS } from './sealed-columns.ts'
import { createForgotten } from './suppressions/forgotten.ts'
import { createGroups, type Groups } from './suppressions/groups.ts'
import { createSuppressions, type Suppressions } from './suppressions/index.ts'
import { createTracking, type Tracking } from './tracking/index.ts'

/** The domain logic of the service, one property per domain. */
export interface Core {
  readonly accounts: Accounts
  readonly audit: Audit
  readonly schema: Schema
  readonly auth: Auth
  readonly relayNetworks: RelayNetworks
  readonly agentPlan: AgentPlans
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
  readonly queue: QueueControl
  readonly serviceTime: ServiceTimes
  readonly sources: Sources
  readonly sourceChecks: SourceChecks
  readonly tls: Tls
  readonly notificationMail: NotificationMail
  readonly tlsReports: TlsReports
  readonly events: Events
  readonly tracking: Tracking
  readonly returns: Returns
  readonly aggregateReports: AggregateReports
  readonly stats: Stats
  readonly reputation: Reputation
  readonly evidence: EvidencePacks
  readonly providerFigures: ProviderFigures
  readonly guard: Guard
  readonly eventLog: EventLog
  readonly failures: Failures
  readonly exports: Exports
  readonly people: People
  readonly privacy: Privacy
  readonly retention: Retention
  readonly webhooks: Webhooks
  /** The rotation of SECRET_KEY. */
  readonly keys: KeyRotation
  readonly readiness: ReadinessWatch
  readonly pendingWork: PendingWork
  /** Returns reads for one call whose answers may be some seconds old, see reads.ts. */
  readonly oldReads: () => Reads
  /** See database-health.ts. */
  readonly databaseHealth: () => Promise<DatabaseHealth>
  /** The processes of all hosts. */
  readonly listProcesses: () => Promise<ListedProcess[]>
  /** See service-figures.ts. */
  readonly serviceFigures: () => Promise<Measured>
  /** The database's time, used for message timestamps. */
  readonly clock: DatabaseClock
  /** Periodic cleanup that any process may run: creates partitions ahead of time and deletes what has expired. */
  readonly cleanUp: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface CoreDependencies {
  readonly sql: Sql
  /** The pool of DATABASE_READ_URL. */
  readonly standby?: Sql | undefined
  readonly config: Config
  readonly log: Log
  readonly clock?: Clock
  /** Limits on what one call may use of the process; unlimited if omitted. */
  readonly share?: Share
  /** Used by tests, since generating a DKIM key takes a fifth of a second. */
  readonly givenKey?: GivenKey
  /** Likewise given by tests: hashing a password takes as long. */
  readonly passwordCost?: PasswordCost
}

// One function, since it only wires: each domain is built from those above it.
export function createCore({
  sql: pool,
  standby,
  config,
  log,
  clock: hostClock = systemClock,
  share = EVERYTHING,
  givenKey,
  passwordCost = PASSWORD_COST,
}: CoreDependencies): Core {
  const secrets = loadSecrets(config)
  const clock = databaseClock(hostClock)
  const { allowUnsafeDatabase, requireSyncStandby } = config
  const { objects, bodyObjects } = openBodyStore(config, log)
  const notes = () => bodyObjects?.problems() ?? []
  const locks = createLockWatch()
  const mayMoveClock = config.delivery.kind === 'sandbox'
  const asked = { allowUnsafeDatabase, requireSyncStandby, mayMoveClock, notes, storeProblem: locks.problem }
  const readiness = watchReadiness({ sql: pool, log, secrets, clock, ...asked })
  // Both share one pool. Statements that mail waits for have the shorter deadline.
  const [sql, work] = [withDeadline(pool, 'mail'), withDeadline(pool, 'work')]
  const now = () => clock.now()
  const { oldReads, reads, close: closeReads } = openReads({ primary: work, standby, config, now, log })
  const rateLimits = createRateLimits(sql)
  const guard = createGuard({ sql: work, config })
  const domains = createDomains({ sql, secrets, rateLimits, config, givenKey, onChecked: guard.noteLacking })
  const templates = createTemplates(sql)
  const renderer = createDynamicRenderer()
  const editableTemplates = createEditableTemplates(sql, renderer)
  const batches = batchesOf(sql)
  const sourceChecks = createSourceChecks({ sql: work, log, config })
  const sources = createSources({ sql, secrets, confirm: sourceChecks.confirm })
  const attachments = createAttachments({ sql, capacity: config.attachmentStorage })
  const auth = createAuth({ sql, log, rateLimits, config })
  const { principalOf } = auth
  const forgotten = createForgotten({ sql, secrets })
  const failures = createFailures({ sql: work, eventDays: config.eventDays })
  const suppressions = createSuppressions({ sql: work, secrets, forgotten })
  const messages = createMessages({
    share,
    sql,
    reads,
    clock,
    domains,
    rateLimits,
    templates,
    editableTemplates,
    batches,
    sources,
    renderer,
    attachments,
    bodyObjects,
    storedBudget: createByteBudget(config.bodyBudget),
    forgotten,
    receivedField: { by: config.heloName, showsClient: config.showsClient },
    identity: ownIdentity(config),
    links: { secrets, publicUrl: config.publicUrl, trackingScheme: config.trackingScheme },
    ready: () => readiness.current().ready,
    announcer: createAnnouncer(sql),
    onFull: readiness.noteFull,
    watchCommit: locks.watch,
    onStored: logAccepted(log, config),
  })
  const tracking = createTracking({ sql, secrets, log })
  const aggregateReports = createAggregateReports({ sql: work, config, now })
  const serviceMail = createServiceMail({ sql: work, messages, config })
  const notificationMail = createNotificationMail({ sql: work, messages, rateLimits, host: config.heloName })
  const returns = createReturns({ serviceMail, sql: work, secrets, config, aggregateReports, now })
  const http = createOutboundHttp(config)
  const webhooks = createWebhooks({ sql: work, secrets, http })
  const tls = createTls({ sql, log, config })
  const exports = createExports({ sql: work, reads, oldReads, secrets, config, messages, principalOf, http })
  const queue = createQueueControl({ sql: work, config, finished: createFinishedSource(forgotten) })
  const reputation = createReputation({ sql: work, config })
  const [credits, providerFigures] = [createCredits(work), createProviderFigures(work)]
  const people = createPeople(
    { sql: work, secrets, rateLimits, auth, credits, clock, serviceMail, log, config },
    passwordCost,
  )
  const deliveries = createDeliveries({ sql, log, config, secrets, clock: hostClock, forgotten })

  return {
    accounts: createAccounts(work, config),
    audit: createAudit(work),
    schema: createSchema(sql),
    credits,
    subaccounts: createSubaccounts(work, passwordCost),
    auth,
    relayNetworks: createRelayNetworks(sql),
    agentPlan: createAgentPlans({ secrets, clock }),
    rateLimits,
    domains,
    templates,
    editableTemplates,
    attachments,
    suppressions,
    groups: createGroups(work),
    messages,
    batches,
    exports,
    people,
    pendingWork: createPendingWork(work),
    privacy: createPrivacy({ sql: work, secrets, forgotten }),
    deliveries,
    queue,
    serviceTime: createServiceTimes({ sql: work, config, check: readiness.check, moveSessions }),
    sources,
    sourceChecks,
    tls,
    notificationMail,
    tlsReports: createTlsReports({ sql: work, serviceMail, http, config, now: () => clock.now() }),
    events: createEvents({ sql: work, alongside: [rollUp, reputation.count, notificationMail.queue] }),
    stats: createStats({ sql: work, reads }),
    reputation,
    evidence: createEvidencePacks({ sql: work, secrets, sourceChecks, config }),
    providerFigures,
    guard,
    eventLog: createEventLog({ reads, secrets }),
    failures,
    tracking,
    returns,
    aggregateReports,
    retention: createRetention(work, config, objects),
    webhooks,
    keys: createKeyRotation({ sql: work, secrets, columns: SEALED_COLUMNS }),
    readiness,
    oldReads,
    databaseHealth: () => readDatabaseHealth(work),
    listProcesses: () => listProcesses(work),
    serviceFigures: createServiceFigures(work, config),
    clock,
    cleanUp: () => {
      const own = [messages.forgetOldAnswers, rateLimits.forgetOldWindows, suppressions.forgetEnded]
      const parts = [failures, exports, batches, deliveries.limits, queue, returns, reputation, aggregateReports]
      const others = [providerFigures, tls.sts, tls.results, people, webhooks]
      return cleanUp(work, [...own, ...[...parts, ...others].map(({ forgetOld }) => forgetOld)])
    },
    async close() {
      readiness.close()
      const closed = [auth, people, tracking, renderer, messages, returns, aggregateReports].map((part) => part.close())
      await Promise.all([...closed, closeReads()])
      objects?.close()
      await pool.end({ timeout: 5 })
    },
  }
}
