import { randomBytes } from 'node:crypto'
import t from 'tap'
import { isInTime } from '../../helpers/pace.ts'
import { makeService, type Sender, type TestService } from '../../helpers/service.ts'
import { acceptMessage } from '../submission.ts'

const MIB = 1024 * 1024

function largeFrom(service: TestService, sender: Sender) {
  return acceptMessage(service, sender, { attachments: [{ fileName: 'chart.bin', content: randomBytes(2 * MIB) }] })
}

t.test(
  'what the database refuses when it has all of a large body fails at once, and the next is accepted',
  async (t) => {
    const service = await makeService(t)
    const sender = await service.makeSender()
    await service.sql.unsafe(`
    create function bad_disk() returns trigger language plpgsql as $$
      begin perform pg_sleep(0.5); raise exception 'could not write block' using errcode = '58030'; end $$;
    create trigger bad_disk before insert on bodies for each row when (octet_length(new.content) > ${MIB})
      execute function bad_disk()`)
    const began = performance.now()
    await t.rejects(largeFrom(service, sender))
    t.ok(isInTime(began, 12_000))
    await service.sql`drop trigger bad_disk on bodies`
    t.match(await largeFrom(service, sender), { repeated: false })
  },
)

t.test('a large body of a week without partitions is stored, like others', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const rows = await service.sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits
     where inhparent::regclass::text in ('messages', 'deliveries', 'bodies', 'events', 'attempts')`
  for (const { name } of rows) await service.sql.unsafe(`drop table ${name}`)
  const began = performance.now()
  t.match(await largeFrom(service, sender), { repeated: false })
  t.ok(isInTime(began, 12_000))
})
