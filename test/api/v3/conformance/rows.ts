import { V3_OPERATIONS } from '@postrider/api'
import { ACCOUNT_ROWS } from './account-settings.ts'
import { DOOR_ROWS } from './door.ts'
import { KEY_ROWS } from './keys.ts'
import { MAIL_SEND_ROWS } from './mail-send.ts'
import { SMTPAPI_ROWS } from './smtpapi.ts'
import { STATS_ROWS } from './stats.ts'
import { SUPPRESSION_ROWS } from './suppressions.ts'
import { TEMPLATE_ROWS } from './templates.ts'
import { WEBHOOK_ROWS } from './webhooks.ts'

/**
 * What the conformance page tells: every row of the contract's table of treatments (section 13), and every operation. A test
 * proves a row by `proves(t, 'its id')`; test/api/v3/conformance.test.ts fails for a row that no test proves.
 */
export interface Row {
  /** Short, lower case, as tests name it. */
  readonly id: string
  /** As the contract names the parameter. */
  readonly parameter: string
  /** Honoured, ignored (taken silently, without effect) or refused; where only some values are refused, it says so. */
  readonly treatment: 'honour' | 'ignore' | 'reject'
  /** What a client has to know: limits, choices between two answers, what is not done. */
  readonly note?: string
  /** No test proves it yet, and the page says so. To be taken away with the test. */
  readonly pending?: true
}

/** Each part of v3 has a list of its own beside this file. */
export const ROWS: readonly Row[] = [
  ...MAIL_SEND_ROWS,
  ...TEMPLATE_ROWS,
  ...STATS_ROWS,
  ...SUPPRESSION_ROWS,
  ...KEY_ROWS,
  ...WEBHOOK_ROWS,
  ...ACCOUNT_ROWS,
  ...DOOR_ROWS,
  ...SMTPAPI_ROWS,
]

/** The rows made from the table of operations: `operation.createTemplate`. */
export const OPERATION_ROWS: readonly Row[] = V3_OPERATIONS.map(({ name, method, path }) => ({
  id: `operation.${name}`,
  parameter: `${method} /v3${path}`,
  treatment: 'honour',
}))
