/** Rows of a table that belong to an account by a column `account_id`, and are removed some at a time. */
export interface OwnRows {
  readonly table: string
  /**
   * Text of the columns after account_id in an index, with their types: the removal goes on after the last rows it removed. Without, it looks at the
   * beginning again each time, where the entries of removed rows stay until the table is vacuumed; for tables with some thousands of rows at most.
   */
  readonly key?: readonly (readonly [column: string, type: string])[]
  /** The table with the account, and the column that refers to it, of rows without account_id, or without an index by it. */
  readonly through?: readonly [table: string, column: string]
  /** Rows removed at a time, fewer if they are large or others go with them. */
  readonly limit?: number
}

/** Rows with content of up to megabytes. */
const LARGE = 20
/** Rows with which those of another table go (`on delete cascade`). */
const WITH_OTHERS = 100

/** In an order in which no row is removed before those that refer to it. */
export const OWN_ROWS: readonly OwnRows[] = [
  { table: 'delivery_queue', key: [['message_id', 'uuid']] },
  { table: 'status_notifications' },
  { table: 'unkept_contents', key: [['message_id', 'uuid']] },
  {
    table: 'batch_messages',
    key: [
      ['batch_id', 'text'],
      ['message_id', 'uuid'],
    ],
  },
  { table: 'batches', key: [['id', 'text']] },
  { table: 'idempotency_keys', key: [['key', 'text']] },
  { table: 'suppressions', key: [['value', 'text']] },
  { table: 'unsubscribe_groups' },
  { table: 'forgotten' },
  { table: 'forgotten_accounts' },
  { table: 'cleared_failures' },
  { table: 'recipient_holds' },
  { table: 'recipient_repeats' },
  {
    table: 'roll_ups',
    key: [
      ['subject', 'text collate "C"'],
      ['name', 'text collate "C"'],
    ],
  },
  { table: 'roll_up_sums' },
  { table: 'tags', key: [['name', 'text collate "C"']] },
  { table: 'delivery_counts', key: [['hour', 'timestamptz']] },
  { table: 'provider_counts' },
  { table: 'account_counts' },
  { table: 'account_holds' },
  { table: 'account_notices' },
  { table: 'owner_notices' },
  { table: 'owner_notice_mails' },
  { table: 'account_reputation' },
  { table: 'reputation_due' },
  { table: 'destination_offers' },
  { table: 'flow_progress' },
  { table: 'rule_hits' },
  { table: 'limit_overrides' },
  { table: 'past_limits' },
  { table: 'pool_rules' },
  { table: 'tls_rules' },
  { table: 'credit_usage' },
  { table: 'credit_notices' },
  { table: 'credit_balances' },
  { table: 'export_parts', through: ['export_jobs', 'job_id'], limit: LARGE },
  { table: 'export_jobs' },
  { table: 'webhook_deliveries', through: ['webhooks', 'webhook_id'] },
  { table: 'webhook_batches', through: ['webhooks', 'webhook_id'] },
  { table: 'webhooks' },
  { table: 'attachments', limit: LARGE },
  { table: 'editable_versions', limit: LARGE },
  { table: 'editable_templates' },
  { table: 'template_versions', through: ['templates', 'template_id'], limit: LARGE },
  { table: 'templates', limit: LARGE },
  { table: 'dmarc_reports', limit: WITH_OTHERS },
  { table: 'tls_reports', limit: WITH_OTHERS },
  { table: 'domains', limit: WITH_OTHERS },
  { table: 'invitations' },
  { table: 'one_time_links' },
  { table: 'api_keys' },
  { table: 'forget_messages', through: ['forget_requests', 'request_id'] },
  { table: 'forget_requests' },
  { table: 'retention_cursors' },
  { table: 'event_epoch_starts' },
]

/** Tables whose rows have a step of their own (steps.ts). */
export const STEPPED = [
  'messages',
  'search_blocks',
  'finished_deliveries',
  'attempts',
  'hits',
  'events',
  'event_pages',
  'memberships',
  'returns',
  'audit_log',
] as const

/** Tables with a column `account_id` whose rows stay, with the reason. */
export const STAYING: Readonly<Record<string, string>> = {
  account_deletions: 'says that the account was deleted, and when',
  queue_jobs: 'the column is where a job goes on, not whose it is; jobs are forgotten 30 days after their end',
}
