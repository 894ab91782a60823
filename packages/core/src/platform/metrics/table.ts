/** Upper bounds of histograms of seconds: of a statement, of a call, and of what takes from a moment to days. */
const STATEMENT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const CALL = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const DELIVERY = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 72 * 3600]

const ENTRY_POINTS = ['v2', 'v3', 'smtp'] as const
const OUTCOMES = ['delivered', 'deferred', 'bounced', 'dropped'] as const
/** How many different values a label has whose values are not known beforehand; further ones are counted as `other`. */
const NAMED = 50

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** The values of each label: all of them, or how many there may be. */
  readonly labels: Readonly<Record<string, readonly string[] | number>>
  readonly buckets?: readonly number[]
  /** The processes that have it; every process if omitted. */
  readonly processes?: readonly string[]
}

const counter = <const L extends MetricRow['labels']>(help: string, labels: L) =>
  ({ type: 'counter', help, labels }) as const
const gauge = <const L extends MetricRow['labels']>(help: string, labels: L) =>
  ({ type: 'gauge', help, labels }) as const
const histogram = <const L extends MetricRow['labels']>(help: string, buckets: readonly number[], labels: L) =>
  ({ type: 'histogram', help, buckets, labels }) as const

/** Rows that only these processes have. */
function of<const R extends Readonly<Record<string, MetricRow>>>(processes: readonly string[], rows: R): R {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, processes }])) as unknown as R
}

/**
 * All metrics of this service, without the prefix `postrider_`. Labels have closed or bounded sets of values, so the number of time series
 * is bounded whatever clients send: no accounts, addresses or domains. `docs/metrics.md` is made from this table.
 */
export const METRIC_TABLE = {
  build_info: gauge(
    'Constant 1, with the version of the program, its commit if it is known, and the number of its last migration.',
    {
      version: 1,
      commit: 1,
      schema: 1,
      process: 1,
      node: 1,
    },
  ),
  ready: gauge('1 if the process does its work, otherwise 0, as GET /health/ready reports it.', {}),
  stopping: gauge('1 while the process finishes its work after SIGTERM, otherwise 0.', {}),
  measurement_failures_total: counter(
    'Gauges that could not be read, for example because the database does not respond.',
    {},
  ),

  ...of(['api'], {
    http_requests_total: counter('HTTP requests to which the API process has responded.', {
      surface: ['v2', 'v3', 'operator', 'dashboard', 'tracking', 'docs', 'health', 'other'],
      status_class: ['2xx', '3xx', '4xx', '5xx'],
    }),
    http_request_seconds: histogram('Seconds from the header of a request to the end of its response.', CALL, {
      surface: ['v2', 'v3', 'operator', 'dashboard', 'tracking', 'docs', 'health', 'other'],
    }),
    http_connections: gauge('Open HTTP connections of the API process.', {}),
    logins_total: counter(
      'Log-ins to the dashboard; limited: refused unread, after too many that failed. A right password with a second factor to ' +
        'come counts when that was given.',
      {
        method: ['password', 'second-factor', 'passkey', 'openid'],
        result: ['accepted', 'refused', 'limited'],
      },
    ),
  }),

  ...of(['api', 'delivery'], {
    read_replica_lag_seconds: gauge(
      'Seconds by which the standby of DATABASE_READ_URL is behind; absent without one, and while it does not respond.',
      {},
    ),
    old_reads_total: counter('Reads whose answer may be some seconds old, by the server that answered.', {
      server: ['standby', 'primary'],
    }),
  }),

  ...of(['api', 'relay'], {
    body_bytes: gauge('Bytes of request bodies and messages that the process holds in memory.', {}),
    body_limit_bytes: gauge('Bytes of request bodies and messages that the process may hold (BODY_BUDGET_MB).', {}),
  }),

  ...of(['relay', 'returns'], {
    smtp_connections: gauge('Open SMTP connections of clients.', {}),
    certificate_seconds: gauge(
      'Seconds until the certificate expires that the process offers; negative afterwards.',
      {},
    ),
    smtp_sessions_total: counter('SMTP sessions that began.', { tls: ['implicit', 'none'] }),
    smtp_replies_total: counter('SMTP replies sent to clients.', { code_class: ['2xx', '3xx', '4xx', '5xx'] }),
    smtp_logins_total: counter('SMTP authentications.', { result: ['accepted', 'refused', 'failed'] }),
  }),

  ...of(['api', 'relay', 'delivery'], {
    accepted_messages_total: counter(
      'Messages accepted: stored, and their delivery is the responsibility of this service.',
      {
        door: ENTRY_POINTS,
      },
    ),
    accepted_recipients_total: counter('Recipients of accepted messages.', { door: ENTRY_POINTS }),
    refused_messages_total: counter(
      'Messages refused by the rules for all entry points, by the name of the error (docs/errors.md).',
      {
        door: ENTRY_POINTS,
        error: NAMED,
      },
    ),
    repeated_messages_total: counter('Messages not stored again because of their idempotency key.', {
      door: ENTRY_POINTS,
    }),
    accept_seconds: histogram('Seconds from the validation of a message to its commit.', STATEMENT, {
      door: ENTRY_POINTS,
    }),
    accept_commit_seconds: histogram('Seconds of the statement that stores accepted messages.', STATEMENT, {}),
    accept_commit_messages: histogram('Messages stored by one commit.', [1, 2, 4, 8, 16, 32, 64, 128], {}),
  }),

  ...of(['api', 'relay', 'delivery'], {
    object_store_requests_total: counter(
      'Requests to object storage (BODY_STORE) with their retries, by result: unavailable if it did not answer or could not do it, ' +
        'refused if the operator has to change something.',
      {
        operation: ['put', 'get', 'remove', 'list'],
        result: ['ok', 'missing', 'unavailable', 'refused', 'answer'],
      },
    ),
    object_store_seconds: histogram('Seconds of a request to object storage with its retries.', CALL, {
      operation: ['put', 'get', 'remove', 'list'],
    }),
  }),

  ...of(['delivery'], {
    claimed_deliveries_total: counter('Deliveries that the worker took from the queue.', {}),
    claim_seconds: histogram('Seconds of the statement that claims deliveries.', STATEMENT, {}),
    deliveries_in_flight: gauge('Deliveries claimed by the worker and not finished.', {}),
    takeovers_total: counter('Deliveries taken over from workers that died.', {}),
    attempts_total: counter('Delivery attempts by outcome and mailbox provider; other sites are counted as other.', {
      outcome: OUTCOMES,
      provider: NAMED,
    }),
    attempt_failures_total: counter(
      'Attempts that were deferred or bounced, by the stage that the SMTP conversation had reached.',
      {
        outcome: ['deferred', 'bounced'],
        stage: ['mx', 'connect', 'greeting', 'ehlo', 'starttls', 'tls', 'auth', 'mail', 'rcpt', 'data', 'dot', 'rset'],
      },
    ),
    attempt_seconds: histogram('Seconds of an attempt.', CALL, { outcome: OUTCOMES }),
    delivery_seconds: histogram('Seconds from acceptance, or the scheduled time, to delivery, by class.', DELIVERY, {
      class: ['urgent', 'normal', 'bulk'],
    }),
    indeterminate_attempts_total: counter(
      'Attempts whose end of data was sent but not answered: the recipient may get a copy.',
      {},
    ),
    stale_results_total: counter('Results rejected because another worker had taken over the delivery.', {}),
    record_seconds: histogram('Seconds until the results of a batch of attempts are recorded.', STATEMENT, {}),

    mx_lookups_total: counter(
      "Lookups of the mail hosts of a domain, by result: none if it has none, failed if the DNS did not say. The worker's cache is asked first.",
      { result: ['found', 'none', 'failed'] },
    ),
    mx_lookup_seconds: histogram('Seconds of a lookup of the mail hosts of a domain.', CALL, {}),
    outgoing_tls_total: counter(
      "SMTP sessions with recipients' servers, by TLS version, the level that was demanded (docs/tls.md), and what became of it: " +
        'refused if TLS was not as demanded, none without TLS.',
      {
        version: ['TLSv1.2', 'TLSv1.3', 'none'],
        level: ['opportunistic', 'required', 'verified', 'sts', 'dane'],
        result: ['verified', 'unverified', 'none', 'refused'],
      },
    ),
    back_offs_total: counter('Limits set or prolonged by back-off rules, because providers refuse mail for now.', {
      provider: NAMED,
      setting: ['pause', 'rate', 'connections', 'messagesPerConnection'],
    }),
    pauses: gauge('Pauses of mail in force, by mailbox provider; those of other sites are counted as other.', {
      provider: NAMED,
    }),
    exports_total: counter('Exports of events that this worker ended.', { result: ['done', 'failed'] }),

    queue_deliveries: gauge('Deliveries in the queue, due or not, as the database estimates.', {}),
    queue_oldest_due_seconds: gauge(
      'Seconds for which the delivery has been due that has waited longest; 0 if none is due.',
      {},
    ),
    workers: gauge('Delivery processes that have a lease.', {}),
    events_lag_seconds: gauge('Age of the oldest event without a sequence number; 0 if there is none.', {}),
    events_total: counter('Events that got their sequence numbers from this worker, by type (docs/events.md).', {
      type: NAMED,
    }),
    sequence_seconds: histogram('Seconds in which a batch of events got its sequence numbers.', STATEMENT, {}),
    webhook_batches_total: counter('Requests to webhooks, by what became of their batch.', {
      result: ['delivered', 'waiting', 'dead', 'disabled', 'late'],
    }),
    webhook_seconds: histogram('Seconds until a batch was sent to a webhook and its response recorded.', CALL, {}),

    database_bytes: gauge('Size of the database.', {}),
    database_connections: gauge('Connections to the database.', {}),
    database_connections_limit: gauge('Connections that the database server allows (max_connections).', {}),
    database_oldest_transaction_seconds: gauge(
      'Age of the oldest open transaction of the database; 0 if there is none.',
      {},
    ),
    database_replica_lag_bytes: gauge(
      'WAL bytes by which the furthest replica is behind; absent without a replica.',
      {},
    ),
    database_partition_weeks: gauge('Weeks ahead for which the tables of messages have partitions.', {}),
    database_archive_age_seconds: gauge(
      'Seconds since a segment of the write-ahead log was archived; absent without archiving.',
      {},
    ),
    database_archive_failures: gauge(
      "Failed attempts to archive a segment since the server's statistics were reset; absent without archiving.",
      {},
    ),
    object_removals_seconds: gauge(
      'Seconds for which the object has been waiting that is to be removed from object storage first; 0 if there is none, absent without BODY_STORE.',
      {},
    ),
    backup_age_seconds: gauge(
      'Seconds since the last base backup in BACKUP_DIR began, +Inf if it has none; absent without BACKUP_DIR.',
      {},
    ),
    backup_interval_seconds: gauge('Seconds between two base backups (BACKUP_EVERY); absent without BACKUP_DIR.', {}),
    disk_free_bytes: gauge(
      "Bytes free for the service on the disk of this host's DATA_DIR, and of BACKUP_DIR if that is a folder.",
      { folder: ['data', 'backup'] },
    ),
    disk_bytes: gauge('Bytes of that disk.', { folder: ['data', 'backup'] }),
    domains_inactive: gauge(
      'Sending domains that may not send, because a required record is gone; at most two minutes old, as the three after it.',
      {},
    ),
    domains_failing: gauge('Active domains that become inactive unless a required record comes back.', {}),
    webhooks_disabled: gauge('Webhooks that were disabled because they failed for too long.', {}),
    sources_listed: gauge('Source addresses that are in a block list.', {}),
    database_transaction_id_ratio: gauge(
      'Age of the oldest transaction id as a part of the age at which Postgres stops (2^31).',
      {},
    ),
  }),
} as const satisfies Readonly<Record<string, MetricRow>>

type Table = typeof METRIC_TABLE
export type MetricName = keyof Table
export type CounterName = { [N in MetricName]: Table[N]['type'] extends 'counter' ? N : never }[MetricName]
export type GaugeName = { [N in MetricName]: Table[N]['type'] extends 'gauge' ? N : never }[MetricName]
export type HistogramName = { [N in MetricName]: Table[N]['type'] extends 'histogram' ? N : never }[MetricName]

/** The labels of a metric with a value each. */
export type LabelsOf<N extends MetricName> = {
  readonly [L in keyof Table[N]['labels']]: Table[N]['labels'][L] extends readonly (infer V)[] ? V : string
}

/** The most time series that a process can have of a metric; a histogram has one per bucket, and its sum and count. */
export function seriesOf({ labels, buckets = [], type }: MetricRow): number {
  const combinations = Object.values(labels).reduce<number>(
    // With one for `other`.
    (product, values) => product * (typeof values === 'number' ? values + 1 : values.length),
    1,
  )
  return combinations * (type === 'histogram' ? buckets.length + 3 : 1)
}
