import { asksDns, type Config, type Core, type Log, ObjectStoreError, type Work } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

interface Given {
  readonly core: Core
  readonly log: Log
}

interface Row {
  /** Name in log messages: "the NAME loop". */
  readonly name: string
  /** Milliseconds between rounds when there was no more work, and when there is more; default 0. */
  readonly every: number
  readonly breath?: number
  /** Runs one round. Returns true if there may be more work. Workers share the work; when one stops, the others do its part. */
  readonly act: (given: Given & { readonly signal: AbortSignal }) => Promise<unknown>
  /** Runs once more when the loop has ended. */
  readonly atEnd?: (given: Given) => Promise<unknown>
  /** Default: with every configuration. */
  readonly needs?: (config: Config) => boolean
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Maximum number of domains, sources or policies that are checked per round. */
const LIMIT = 20
/**
 * Milliseconds between the first rounds of slow loops. Those with the same interval would otherwise ask the database at the same moment for ever, each on a
 * connection of its own.
 */
const APART = 50

const sendsToMx = ({ delivery }: Config): boolean => delivery.kind === 'mx'

/** The background work that consists of rounds. Loops with more logic have files of their own. */
const LOOPS: readonly Row[] = [
  // Erasure.
  { name: 'privacy', every: SECOND, breath: 5, act: ifAny('forget_requests', (core) => core.privacy.forgetSome()) },
  // Sequence numbers and rollups. Under load, a round processes the events of a second, so that thousands of events share its cost.
  { name: 'event', every: SECOND, breath: 5, act: async ({ core }) => (await core.events.sequence()).more },
  // Counting waits while a week is summed, some 100 ms for a thousand names a day.
  { name: 'statistics', every: 10 * MINUTE, breath: SECOND, act: ({ core }) => core.stats.sumSome() },
  // The words of messages. After an upgrade of a large database, mail has the database for longer than a round takes.
  { name: 'search', every: 5 * SECOND, breath: 250, act: ({ core }) => core.messages.fillSearch() },
  { name: 'hit', every: 500, breath: 5, act: ifAny('hits', (core) => core.tracking.classify()) },
  // Between two chunks of a job, mail has the database for longer than a chunk takes.
  { name: 'queue job', every: SECOND, breath: 100, act: ifAny('queue_jobs', (core) => core.queue.workSome()) },
  // The next day of the plans of new sources.
  {
    name: 'warm-up',
    every: 10 * SECOND,
    breath: 100,
    act: async ({ core }) => (await core.sources.advanceWarmUps()) > 0,
  },
  { name: 'reputation', every: 5 * SECOND, breath: 50, act: evaluateReputation },
  { name: 'guard', every: 10 * MINUTE, act: warnOfGuard },
  { name: 'service mail', every: 2 * SECOND, breath: 20, act: sendServiceMail },
  { name: 'status notification', every: 2 * SECOND, breath: 5, act: sendStatusNotification },
  { name: 'owner notice', every: 10 * SECOND, breath: 20, act: sendOwnerNotices },
  // Apart from each other, since dropping a partition may wait for its readers.
  { name: 'body removal', every: 15 * SECOND, breath: 50, act: onObjects((core) => core.retention.removeSome()) },
  { name: 'body sweep', every: MINUTE, breath: 200, act: onObjects((core) => core.retention.sweepSome()) },
  { name: 'retention', every: 30 * SECOND, breath: 1000, act: dropPartitions },
  { name: 'unkept contents', every: 15 * SECOND, breath: 100, act: ({ core }) => core.retention.removeContents() },
  { name: 'shorter retention', every: 30 * SECOND, breath: 50, act: ({ core }) => core.retention.shortenSome() },
  // Between two parts of the removal of an account, mail has the database for as long.
  { name: 'account removal', every: 5 * SECOND, breath: 50, act: ({ core }) => core.retention.deletions.removeSome() },
  // Apart from each other, so that block lists that do not answer delay no other check.
  {
    name: 'source',
    every: 15 * SECOND,
    act: async ({ core, signal }) => (await core.sourceChecks.checkDueRecords({ limit: LIMIT, signal })) === LIMIT,
  },
  {
    name: 'block list',
    every: 15 * SECOND,
    act: async ({ core, signal }) => (await core.sourceChecks.checkDueListings({ limit: LIMIT, signal })) === LIMIT,
  },
  {
    name: 'domain',
    every: 15 * SECOND,
    act: async ({ core, signal }) => (await core.domains.checkDue({ limit: LIMIT, signal })) === LIMIT,
    needs: asksDns,
  },
  // Once per day, the policies of domains that got mail within a week.
  {
    name: 'MTA-STS',
    every: 5 * MINUTE,
    act: async ({ core, signal }) => (await core.tls.sts.refreshDue({ limit: LIMIT, signal })) === LIMIT,
    needs: sendsToMx,
  },
  // Whether the resolver validates; a change is logged.
  { name: 'DNSSEC', every: HOUR, act: ({ core }) => core.tls.dnssec.check(), needs: sendsToMx },
  // Counted sessions: those of a process that is killed are lost.
  {
    name: 'TLS results',
    every: MINUTE,
    act: ({ core }) => core.tls.results.flush(),
    atEnd: ({ core, log }) =>
      core.tls.results.flush().catch((err: unknown) => log.warn({ err }, 'could not store the results of sessions')),
    needs: sendsToMx,
  },
  { name: 'TLS report', every: 30 * SECOND, breath: 20, act: sendTlsReport, needs: sendsToMx },
]

/** Starts the loops of the table that this configuration needs. */
export function runLoops({ core, log, config }: Given & { readonly config: Config }): Loop[] {
  const needed = LOOPS.filter(({ needs }) => needs?.(config) ?? true)
  return needed.map((row, at) => run(row, { core, log, after: row.every > SECOND ? at * APART : 0 }))
}

function run(
  { name, every, breath = 0, act, atEnd }: Row,
  { core, log, after }: Given & { readonly after: number },
): Loop {
  const round = async (signal: AbortSignal) => (await act({ core, log, signal })) === true
  const { wake, stop } = runLoop({ name, readiness: core.readiness, log, act: round, every, breath, after })
  return { wake, stop: async () => void (await stop().then(() => atEnd?.({ core, log }))) }
}

/** Holds, slows or warns accounts whose figures require it. */
async function evaluateReputation({ core, log }: Given): Promise<boolean> {
  const { changes, more } = await core.reputation.evaluateSome()
  for (const change of changes) log.warn(change, 'the standing of an account has changed')
  return more
}

/** Warns once a day of each domain that sends much to a receiver and lacks what it demands. */
async function warnOfGuard({ core, log }: Given): Promise<void> {
  for (const { missing, ...alarm } of await core.guard.dueAlarms()) {
    const problems = missing.map(({ name, problem }) => `${name}: ${problem}`)
    log.warn({ ...alarm, problems }, 'a domain sends much to a receiver and lacks what it demands')
  }
}

/** Passes letters on to the operator. */
async function sendServiceMail({ core, log }: Given): Promise<boolean> {
  const forwarded = await core.returns.forwardSome()
  if (forwarded?.problem !== undefined)
    log.warn({ problem: forwarded.problem }, 'could not pass on a letter to the operator, will retry')
  return forwarded !== undefined && forwarded.problem === undefined
}

/** Notifies the owners of accounts of what they have to see to. */
async function sendOwnerNotices({ core, log }: Given): Promise<boolean> {
  await core.people.notices.findSome()
  const sent = await core.people.notices.sendSome()
  if (sent?.problem !== undefined) log.warn(sent, 'could not send a notice to the owners of an account, will retry')
  return sent !== undefined
}

/** Notifies a sender of a delivery (RFC 3461). */
async function sendStatusNotification({ core, log }: Given): Promise<boolean> {
  const sent = await core.notificationMail.sendSome()
  if (sent?.problem !== undefined) log.warn(sent, 'could not send a notification to the sender of a message')
  return sent !== undefined
}

async function sendTlsReport({ core, log }: Given): Promise<boolean> {
  const sent = await core.tlsReports.sendSome()
  if (sent?.problem !== undefined) log.warn(sent, 'could not send a TLS report, will retry')
  return sent !== undefined
}

async function dropPartitions({ core, log }: Given): Promise<void> {
  const tables = await core.retention.dropPartitions()
  if (tables.length > 0) log.info({ tables }, 'expired partitions dropped')
}

/** Without such work, nothing is begun. */
function ifAny(work: Work, act: (core: Core) => Promise<boolean>): Row['act'] {
  return async ({ core }) => (await core.pendingWork.has(work)) && act(core)
}

function onObjects(act: (core: Core) => Promise<boolean>): Row['act'] {
  return async ({ core, log }) => {
    try {
      return await act(core)
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error
      log.warn({ reason: error.message }, 'bodies are not removed from object storage')
      return false
    }
  }
}
