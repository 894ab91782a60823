import type { Sql } from '../../platform/database/database.ts'
import type { OutboundHttp } from '../../platform/net/outbound-http.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { LimitedRequests } from './limited-requests.ts'

export interface WebhooksDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly http: OutboundHttp
}

/** For acts that send requests while a client waits. */
export interface RequestingDependencies extends WebhooksDependencies {
  readonly requests: LimitedRequests
}
