import type { MailpitOptions } from '../mailpit/routes.ts'
import type { Outcomes } from './outcomes.ts'
import type { Waits } from './waits.ts'
import type { Watchers } from './watchers.ts'

export interface PagesOptions extends MailpitOptions {
  readonly outcomes: Outcomes
  readonly watchers: Watchers
  readonly waits: Waits
  readonly publicUrl: string
  readonly dnsServers: readonly string[]
}
