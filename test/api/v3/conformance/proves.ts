import type { Test } from 'tap'
import { OPERATION_ROWS, ROWS } from './rows.ts'

const KNOWN = new Set([...ROWS, ...OPERATION_ROWS].map(({ id }) => id))

/**
 * Declares that this test proves these rows of docs/v3-conformance.md. The ids must be literals, because the page is generated from
 * the source: `proves(t, 'send_at', 'operation.sendMail')`.
 */
export function proves(t: Test, ...ids: readonly string[]): void {
  for (const id of ids) if (!KNOWN.has(id)) t.fail(`row ${id} not found in test/api/v3/conformance`)
}
