import type { AnySql } from '../platform/database/database.ts'
import type { StoredMessage } from './stored-message.ts'

interface Column {
  /** The SQL type of its parameter, an array of texts or numbers. */
  readonly type: string
  readonly of: (message: StoredMessage) => string | number | null
  /** Computes the column of `messages` from the parameter; by default they are the same. If null, the table has no such column. */
  readonly stored?: string | null
}

/** Values of a message that the accept statement is given, by the names of the columns. */
const COLUMNS: Readonly<Record<string, Column>> = {
  id: { type: 'uuid', of: ({ id }) => id },
  account_id: { type: 'int', of: ({ accountId }) => accountId },
  parent_id: { type: 'int', of: ({ parentId }) => parentId, stored: null },
  domain_id: { type: 'int', of: ({ domainId }) => domainId },
  api_key_id: { type: 'int', of: ({ apiKeyId }) => apiKeyId },
  door: { type: 'text', of: ({ door }) => door },
  scheduled_at: { type: 'timestamptz', of: ({ scheduledAt }) => scheduledAt?.toISOString() ?? null },
  from_address: { type: 'text', of: ({ fromAddress }) => fromAddress },
  subject: { type: 'text', of: ({ subject }) => subject },
  // As one JSON text per message, because arrays of arrays must be rectangular.
  tags: {
    type: 'text',
    of: ({ tags }) => JSON.stringify(tags),
    stored: 'array(select jsonb_array_elements_text(tags::jsonb))',
  },
  settings: { type: 'text', of: ({ settings }) => JSON.stringify(settings), stored: 'settings::jsonb' },
  client_address: { type: 'inet', of: ({ clientAddress }) => clientAddress },
  format: { type: 'text', of: ({ format }) => format },
  size: { type: 'int', of: ({ size }) => size },
  parts: { type: 'int', of: ({ parts }) => parts.length },
  recipients: { type: 'int', of: ({ deliveries }) => deliveries.length },
  // As text: in an array of booleans the driver would send every text as false.
  null_return_path: {
    type: 'text',
    of: ({ nullReturnPath }) => String(nullReturnPath),
    stored: 'null_return_path::boolean',
  },
  transaction_base: { type: 'bigint', of: ({ transactionBase }) => String(transactionBase) },
  key: { type: 'text', of: ({ idempotencyKey }) => idempotencyKey ?? null, stored: null },
  fingerprint: { type: 'text', of: ({ fingerprint }) => fingerprint?.toString('hex') ?? null, stored: null },
}

const VALUES = Object.values(COLUMNS).map(({ of }) => of)
const STORED = Object.entries(COLUMNS).filter(([, { stored }]) => stored !== null)
const NAMES = listed(Object.keys(COLUMNS))
const INSERTED = listed(STORED.map(([name]) => name))
const SELECTED = listed(STORED.map(([name, { stored }]) => stored ?? name))
/** The texts around the parameters. The driver takes them as the strings of a tag; made once, they cost nothing per statement. */
const TEXTS = listed(Object.values(COLUMNS).map(({ type }) => `\0::${type}[]`)).split('\0')
const STRINGS: TemplateStringsArray = Object.assign(TEXTS, { raw: TEXTS })

function listed(parts: readonly string[]): string {
  return parts.map((part, at) => (at > 0 && at % 6 === 0 ? `\n             ${part}` : part)).join(', ')
}

/** The parts of the accept statement that list the columns of `messages`. */
export function messageColumns(sql: AnySql, batch: readonly StoredMessage[]) {
  return {
    arrays: sql(STRINGS, ...VALUES.map((of) => batch.map(of))),
    names: sql.unsafe(NAMES),
    inserted: sql.unsafe(INSERTED),
    selected: sql.unsafe(SELECTED),
  }
}
