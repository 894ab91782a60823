import { createHash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { type Challenges, createChallenges } from './log-in/challenges.ts'

/** The call that a plan is for: of this key and tool, with these arguments. */
export interface PlannedCall {
  readonly keyId: number
  /** The account for which the key acts. */
  readonly accountId: number
  readonly tool: string
  /** Its arguments, with their members in one order: the plan is for this text of them. */
  readonly given: Readonly<Record<string, unknown>>
}

/** Ids of plans, which expire after five minutes. They are not stored: an id is a MAC of what was planned. */
export type AgentPlans = (call: PlannedCall) => Pick<Challenges, 'make' | 'isOurs'>

export function createAgentPlans(dependencies: { readonly secrets: Secrets; readonly clock: Clock }): AgentPlans {
  return ({ keyId, accountId, tool, given }) => {
    const planned = JSON.stringify([keyId, accountId, tool, given])
    const digest = createHash('sha256').update(planned).digest('hex')
    return createChallenges(dependencies, 'agent-plan', digest)
  }
}
