import type { Test } from 'tap'
import { OPERATION_ROWS, ROWS } from './rows.ts'

const KNOWN = new Set([...ROWS, ...OPERATION_ROWS].map(({ id }) => id))

/**
 * Says that this test proves these rows of docs/v3-conformance.md. To be written with literal ids, as the page is made from the
 * source: `proves(t, 'send_at', 'operation.sendMail')`.
 */
export function proves(t: Test, ...ids: readonly string[]): void {
  for (const id of ids) if (!KNOWN.has(id)) t.fail(`there is no row ${id} in test/api/v3/conformance`)
}
