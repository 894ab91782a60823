import { collectEvidence, type EvidenceDependencies } from './collect-evidence.ts'
import type { EvidenceQuery } from './evidence.ts'
import { isUnchanged, type SignedEvidence, signEvidence, signText } from './signed-evidence.ts'

export { EVIDENCE_DAYS } from './collect-evidence.ts'
export type * from './evidence.ts'
export type { SignedEvidence } from './signed-evidence.ts'

/** Facts for a provider about the mail that it was sent. */
export interface EvidencePacks {
  /** See collect-evidence.ts. */
  collect(query: EvidenceQuery): Promise<SignedEvidence>
  /** Signs the same as a text; see signed-evidence.ts. */
  signText(text: string): string
  /** Whether a file is as this installation has made it. */
  isUnchanged(file: string): boolean
}

export function createEvidencePacks(dependencies: EvidenceDependencies): EvidencePacks {
  const { secrets } = dependencies
  return {
    collect: async (query) => signEvidence(secrets, await collectEvidence(dependencies, query)),
    signText: (text) => signText(secrets, text),
    isUnchanged: (file) => isUnchanged(secrets, file),
  }
}
