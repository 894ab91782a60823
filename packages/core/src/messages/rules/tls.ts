import { isTlsDemand, TLS_PROBLEM } from '../../delivery/tls/levels.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Submission } from '../../submission/submission.ts'

/** Checks what the message demands of the connections to recipients' servers. Throws parameterInvalid. */
export function checkTls({ settings: { tls }, nameOf }: Submission): void {
  if (tls !== undefined && !isTlsDemand(tls)) throw invalidParameter(nameOf('tls'), TLS_PROBLEM)
}
