import { OPERATOR } from '@postrider/core'
import type { Sender, TestService } from './service.ts'

/** Turns Ed25519 signatures of a sender's domain on, as if the record of the key had been found. A worker that starts now makes them. */
export async function signWithEd25519(
  { core, sql }: Pick<TestService, 'core' | 'sql'>,
  { accountId, domain }: Pick<Sender, 'accountId' | 'domain'>,
): Promise<void> {
  const { dns } = await core.domains.setEd25519(accountId, { name: domain, ed25519: true }, OPERATOR)
  const host = dns.find(({ algorithm }) => algorithm === 'ed25519')?.host
  await sql`
    update domains set records = records || jsonb_build_object(${`TXT ${host}`}::text, '{"state": "right"}'::jsonb)
     where name = ${domain}`
  await sql`
    update dkim_ed25519_keys set state = 'active' where domain_id = (select id from domains where name = ${domain})`
}
