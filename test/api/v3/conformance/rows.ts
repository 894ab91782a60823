import { V3_OPERATIONS } from '@postrider/api'
import { ACCOUNT_ROWS } from './account-settings.ts'
import { DOOR_ROWS } from './door.ts'
import { FORM_ROWS } from './form-send.ts'
import { KEY_ROWS } from './keys.ts'
import { MAIL_SEND_ROWS } from './mail-send.ts'
import { SMTPAPI_ROWS } from './smtpapi.ts'
import { STATS_ROWS } from './stats.ts'
import { SUPPRESSION_ROWS } from './suppressions.ts'
import { TEMPLATE_ROWS } from './templates.ts'
import { WEBHOOK_ROWS } from './webhooks.ts'

/**
 * A row of the conformance page: a parameter of the contract's table of treatments (section 13), or an operation. A test proves a
 * row by `proves(t, 'its id')`; test/api/v3/conformance.test.ts fails for a row that no test proves.
 */
export interface Row {
  /** Short, lower case; used by the tests. */
  readonly id: string
  /** Name of the parameter in the contract. */
  readonly parameter: string
  /** Supported, ignored (accepted without effect) or rejected. If only some values are rejected, the note lists them. */
  readonly treatment: 'honour' | 'ignore' | 'reject'
  /** Limits, choices and restrictions that clients must know. */
  readonly note?: string
  /** No test proves the row yet, and the page shows this. Removed when the test is added. */
  readonly pending?: true
}

/** Each part of v3 has its list in a separate file of this directory. */
export const ROWS: readonly Row[] = [
  ...MAIL_SEND_ROWS,
  ...FORM_ROWS,
  ...TEMPLATE_ROWS,
  ...STATS_ROWS,
  ...SUPPRESSION_ROWS,
  ...KEY_ROWS,
  ...WEBHOOK_ROWS,
  ...ACCOUNT_ROWS,
  ...DOOR_ROWS,
  ...SMTPAPI_ROWS,
]

/** The rows generated from the table of operations: `operation.createTemplate`. */
export const OPERATION_ROWS: readonly Row[] = V3_OPERATIONS.map(({ name, method, path }) => ({
  id: `operation.${name}`,
  parameter: `${method} /v3${path}`,
  treatment: 'honour',
}))
