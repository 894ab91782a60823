import type { Core } from '@postrider/core'
import type { TestService } from './service.ts'

/** What a worker does in its rounds, without the waits that bundle notices. */
export async function tellOwners({ sql, core }: TestService, { people }: Pick<Core, 'people'> = core): Promise<void> {
  await people.notices.findSome()
  await dueNow({ sql })
  while ((await people.notices.sendSome()) !== undefined);
}

/** Makes the mail due that only waits for more notices. */
export async function dueNow({ sql }: Pick<TestService, 'sql'>): Promise<void> {
  await sql`update owner_notice_mails set due_at = service_now() where due_at is not null and tries = 0`
}
