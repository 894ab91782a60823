import { isTlsDemand, TLS_PROBLEM, UNDEMANDING } from '../../delivery/tls/levels.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Submission } from '../../submission/submission.ts'
import { OPERATOR_PRINCIPAL } from '../plain-mail.ts'

/** Checks what the message demands of the connections to recipients' servers. Throws parameterInvalid. */
export function checkTls({ settings: { tls }, nameOf, principal }: Submission): void {
  if (tls === UNDEMANDING && principal.keyId === OPERATOR_PRINCIPAL.keyId) return
  if (tls !== undefined && !isTlsDemand(tls)) throw invalidParameter(nameOf('tls'), TLS_PROBLEM)
}
