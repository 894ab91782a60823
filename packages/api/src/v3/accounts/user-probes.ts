import { type Call, type Operation, operation } from '../operation.ts'

/** Calls by which integrations test their connection. There is no profile: all its fields are empty except the name of the account. */
const PROFILE_FIELDS = [
  'address',
  'address2',
  'city',
  'company',
  'country',
  'first_name',
  'last_name',
  'phone',
  'state',
  'website',
  'zip',
] as const

/** An account without a limit may send this many more. */
const UNLIMITED = 1_000_000_000

function probe(
  what: 'profile' | 'account' | 'email' | 'credits',
  summary: string,
  cli: string,
  act: (call: Call) => Promise<unknown>,
): Operation {
  return operation({
    name: `view${what.charAt(0).toUpperCase()}${what.slice(1)}`,
    summary,
    cli,
    section: '7',
    method: 'GET',
    path: `/user/${what}`,
    scope: 'account',
    right: `user.${what}.read`,
    status: 200,
    act: (_input, call) => act(call),
  })
}

export const USER_PROBES: readonly Operation[] = [
  probe('profile', 'Show the name of the account', 'account list', async ({ principal: { account } }) =>
    Object.fromEntries(PROFILE_FIELDS.map((field) => [field, field === 'company' ? account.name : ''])),
  ),
  probe(
    'account',
    'Show the type and the reputation of the account',
    'account standing',
    async ({ core, principal: { account } }) => {
      const standing = await core.reputation.show(account.id)
      return { type: 'paid', reputation: reputationOf(standing?.day) }
    },
  ),
  probe('email', 'Show the address of the account', 'user list', async ({ core, principal: { account } }) => ({
    email: await core.accounts.emailOf(account.id),
  })),
  probe('credits', 'Show the credit of the account and its use in this month', 'credits show', showCredits),
]

interface Day {
  readonly delivered: number
  readonly hard: number
  readonly complained: number
}

/** The percentage of the last day's mail that neither bounced nor was reported as spam, with one digit; 100 without mail. */
function reputationOf(day: Day | undefined): number {
  if (!day) return 100
  const { delivered, hard, complained } = day
  const total = delivered + hard
  return total === 0 ? 100 : Math.max(0, Math.round(1000 * (1 - (hard + complained) / total)) / 10)
}

async function showCredits({ core, principal: { account } }: Call): Promise<unknown> {
  const now = new Date(core.clock.now())
  const first = dayOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)))
  const next = dayOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)))
  const { used, available } = await core.credits.usage(account.id, { first, last: dayOf(now), limit: 1, offset: 0 })
  const remain = available ?? UNLIMITED
  return {
    remain,
    total: remain + used,
    overage: 0,
    used,
    last_reset: first,
    next_reset: next,
    reset_frequency: 'monthly',
  }
}

/** `yyyy-mm-dd`, UTC. */
function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}
