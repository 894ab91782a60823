/** Operations of the provider's published documents that are not here, with the reason. They are 404, or 405 where the path has others. */
export interface Absent {
  readonly operations: readonly string[]
  readonly reason: string
}

export const ABSENT: readonly Absent[] = [
  {
    operations: ['POST /v3/messages/download', 'GET /v3/messages/download/1'],
    reason: 'files of events are exports (export.md)',
  },
  {
    operations: ['PATCH /v3/whitelabel/links/1', 'DELETE /v3/whitelabel/links/1', 'GET /v3/whitelabel/links/default'],
    reason: 'a host of tracked links belongs to its domain; none is a default',
  },
  {
    operations: [
      'PATCH /v3/whitelabel/domains/1',
      'GET /v3/whitelabel/domains/default',
      'POST /v3/whitelabel/domains/1/ips',
    ],
    reason: 'a domain has no settings of the provider: no default, no addresses of its own, no custom SPF',
  },
  {
    operations: ['GET /v3/whitelabel/ips', 'POST /v3/whitelabel/ips', 'POST /v3/whitelabel/dns/email'],
    reason: 'names of source addresses are set by the operator; records are not mailed',
  },
  {
    operations: [
      'PATCH /v3/teammates/a',
      'DELETE /v3/teammates/a',
      'DELETE /v3/teammates/pending/1',
      'POST /v3/teammates/pending/1/resend',
    ],
    reason: 'members are changed by members in the dashboard',
  },
  {
    operations: [
      'GET /v3/ips/remaining',
      'PUT /v3/ips/pools/a',
      'DELETE /v3/ips/pools/a',
      'POST /v3/ips/pools/a/ips',
      'GET /v3/ips/warmup',
      'POST /v3/ips/warmup',
    ],
    reason: 'source addresses, pools and their warm-up are set up by the operator',
  },
  {
    operations: ['GET /v3/alerts/1', 'PATCH /v3/alerts/1', 'DELETE /v3/alerts/1'],
    reason: 'there are no alerts',
  },
  {
    operations: ['GET /v3/access_settings/whitelist/1', 'DELETE /v3/access_settings/whitelist/1'],
    reason: 'networks are those of a key',
  },
  {
    operations: ['PUT /v3/validations/email/jobs', 'GET /v3/validations/email/jobs'],
    reason: 'addresses are checked one by one',
  },
  {
    operations: [
      'GET /v3/subusers/stats',
      'GET /v3/subusers/reputations',
      'PUT /v3/subusers/a/ips',
      'GET /v3/subusers/a/monitor',
    ],
    reason: 'statistics of a subaccount are read with on-behalf-of; reputations are those of the operator',
  },
  {
    operations: [
      'PATCH /v3/verified_senders/1',
      'DELETE /v3/verified_senders/1',
      'POST /v3/verified_senders/resend/1',
      'GET /v3/verified_senders/verify/t',
    ],
    reason: 'there are no single senders (decision 48)',
  },
  {
    operations: ['GET /v3/user/webhooks/parse/settings/a', 'GET /v3/user/webhooks/parse/stats'],
    reason: 'incoming mail is not received',
  },
  {
    operations: ['PUT /v3/user/username', 'PATCH /v3/user/profile', 'PUT /v3/user/email', 'PUT /v3/user/password'],
    reason: 'people change their own data in the dashboard',
  },
  {
    operations: [
      'GET /v3/partner_settings',
      'GET /v3/sso/integrations',
      'GET /v3/designs',
      'GET /v3/marketing/contacts',
      'GET /v3/contactdb/lists',
    ],
    reason: 'marketing, partners and single sign-on of the provider are other products',
  },
]
