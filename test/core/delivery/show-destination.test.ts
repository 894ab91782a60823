import t from 'tap'
import { makeService } from '../../helpers/service.ts'

t.test(
  'of a long queue, what was tried at a destination is counted in a part, and said to be a lower bound',
  async (t) => {
    const { sql, core } = await makeService(t)
    const fill = (accountId: number, rows: number, lastPlace: string | null, minutes: number) => sql`
    insert into delivery_queue (message_id, recipient_no, account_id, class, state, recipient, recipient_key, recipient_domain, kind,
           next_at, expires_at, last_place)
    select uuidv7(), number, ${accountId}, 1, 'deferred', 'a@d.example', 'a@d.example', 'd.example', 'to',
           service_now() + make_interval(mins => ${minutes}), service_now() + interval '1 day', ${lastPlace}
      from generate_series(1, ${rows}::int) as number`
    await fill(1, 30, 'mx.d.example', 10)
    await fill(1, 20, 'mx.d.example', -10)
    t.match(await core.queue.destination('mx.d.example'), {
      due: { count: 20, more: false },
      later: { count: 30, more: false },
    })
    await fill(2, 25_000, null, -60)
    await fill(2, 100, 'mx.d.example', -1)
    t.match(await core.queue.destination('mx.d.example'), {
      due: { count: 20, more: true },
      later: { count: 30, more: false },
    })
    t.equal(
      await core.queue.destination('mx.unknown.example'),
      undefined,
      'what was not read makes no destination known',
    )
  },
)
