import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { acceptMessage } from '../core/submission.ts'
import { numberEvents } from '../helpers/number-events.ts'
import type { Sender, TestService } from '../helpers/service.ts'

const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
const OPERATOR = { keyId: null, address: null }

export async function fill({ sql, core }: TestService, sender: Sender, count: number): Promise<void> {
  const { messageId } = await acceptMessage({ sql, core } as TestService, sender, {})
  for (let begun = 0; begun < count; begun += 20_000) {
    await sql`
      insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
      select ${`${yesterday}T10:00:00Z`}::text::timestamptz + n * interval '1 millisecond', ${sender.accountId},
             case n % 4 when 0 then 'sent' when 1 then 'opened' when 2 then 'clicked' else 'deferred' end, ${messageId}::uuid, 0,
             jsonb_build_object('reply', '250 2.0.0 Ok: queued as ' || md5(n::text))
        from generate_series(${begun}::int, ${Math.min(begun + 20_000, count) - 1}::int) n`
  }
  await numberEvents({ sql, core })
}

export function ask({ core }: TestService, sender: Sender, format: 'json' | 'csv') {
  const wanted = { startDate: yesterday, endDate: yesterday, events: [], callbackUrl: undefined, format } as const
  return core.exports.create(sender.accountId, { ...wanted, email: `desk@${sender.domain}` }, OPERATOR)
}

/** Each row's number in the account's sequence, in the order of the file, read as it comes. */
export async function numbersIn(service: TestService, sender: Sender, id: string, numberOf: (line: string) => number) {
  const { content } = await service.core.exports.file(sender.accountId, id)
  const numbers: number[] = []
  for await (const line of createInterface({ input: Readable.from(content, { objectMode: false }) })) {
    numbers.push(numberOf(line))
  }
  return numbers
}

export const ofJson = (line: string): number => Number((JSON.parse(line) as { NUMBER: number }).NUMBER)
/** Before the last column, METADATA, which is empty. */
export const ofCsv = (line: string): number => Number(line.split(',').at(-2))

/** What the events say themselves. */
export async function wantedNumbers(service: TestService, { accountId }: Sender): Promise<number[]> {
  const numbers: number[] = []
  for (let after = 0; ; ) {
    const page = await service.core.events.read({ accountId, after, limit: 5000 })
    if (page.next === after) return numbers
    const wanted = page.events.filter(
      ({ type, occurredAt }) =>
        type !== 'deferred' && type !== 'domain' && occurredAt.toISOString().startsWith(yesterday),
    )
    numbers.push(...wanted.map(({ number }) => number))
    after = page.next
  }
}
