import type { DashboardRoute } from './frame/routes.ts'
import { OPERATED_ACCOUNTS } from './pages/accounts/accounts.ts'
import { AUDIT } from './pages/audit/audit.ts'
import { CREDITS } from './pages/credits/credits.ts'
import { DOMAINS } from './pages/domains/domains.ts'
import { EXPORTS } from './pages/exports/exports.ts'
import { FIRST_STEPS } from './pages/first-steps/first-steps.ts'
import { QUEUE_JOBS } from './pages/jobs/jobs.ts'
import { JOIN } from './pages/join/join.ts'
import { KEYS } from './pages/keys/keys.ts'
import { MESSAGES } from './pages/messages/message-routes.ts'
import { OVERVIEW } from './pages/overview/overview.ts'
import { PRIVACY } from './pages/privacy/privacy.ts'
import { PROCESSES } from './pages/processes/processes.ts'
import { QUEUE } from './pages/queue/queue.ts'
import { RETURNS } from './pages/returns/returns.ts'
import { SECURITY } from './pages/security/security.ts'
import { SETTINGS } from './pages/settings/settings.ts'
import { SOURCES } from './pages/sources/sources.ts'
import { START } from './pages/start/start.ts'
import { STATISTICS } from './pages/statistics/statistics.ts'
import { SUBACCOUNTS } from './pages/subaccounts/subaccounts.ts'
import { SUPPRESSIONS } from './pages/suppressions/suppressions.ts'
import { TEAM } from './pages/team/team.ts'
import { TEMPLATES } from './pages/templates/templates.ts'
import { WEBHOOKS } from './pages/webhooks/webhooks.ts'

/** All pages of the dashboard. test/dashboard/roles.test.ts asks each of them in each role. */
export const ROUTES: readonly DashboardRoute[] = [
  ...START,
  ...FIRST_STEPS,
  ...OVERVIEW,
  ...MESSAGES,
  ...TEMPLATES,
  ...DOMAINS,
  ...SUPPRESSIONS,
  ...STATISTICS,
  ...EXPORTS,
  ...KEYS,
  ...SUBACCOUNTS,
  ...CREDITS,
  ...TEAM,
  ...SETTINGS,
  ...PRIVACY,
  ...AUDIT,
  ...SECURITY,
  ...QUEUE,
  ...QUEUE_JOBS,
  ...WEBHOOKS,
  ...OPERATED_ACCOUNTS,
  ...JOIN,
  ...SOURCES,
  ...RETURNS,
  ...PROCESSES,
]
