import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startPostfix } from '../../bench/harness/postfix.ts'
import { startOutboxProcess } from '../delivery/outbox.ts'
import { freePorts } from '../helpers/ports.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { EXIM, type Relay, startExim, transportTo } from './exim.ts'

/** What the next server answers to a recipient; that of `spam` after the message. */
const REPLIES: Readonly<Record<string, string>> = {
  unknown: '550 5.1.1 <unknown@quay.example>: Recipient address rejected: User unknown',
  full: '552 5.2.2 Mailbox full',
  later: '451 4.7.1 Greylisted, please try again later',
}
const SPAM = '554 5.7.1 Message rejected as spam'
const HOST = 'bounces.test'

interface Server {
  readonly name: string
  /** With the ports of the next server and of ours. */
  readonly start: (ports: { sink: number; returns: number }) => Promise<Relay>
  /** Addresses that it calls unknown. */
  readonly unknown: readonly string[]
}

/** The reports that a mail server writes itself, and that reach us by SMTP. */
function reportsOf({ name, start, unknown }: Server): void {
  t.test(`reports that ${name} writes have their effects`, { timeout: 240_000 }, async (t: Test) => {
    const sink = await startSink(t, {
      rcpt: ({ command }) => REPLIES[/<(\w+)@/.exec(command)?.[1] ?? ''],
      dot: ({ message: { to } }) => (to[0]?.startsWith('spam@') ? SPAM : undefined),
    })
    const [returns = 0] = await freePorts(1)
    const relay = await start({ sink: sink.port, returns })
    t.teardown(() => relay.stop())
    const outbox = await startOutboxProcess(t, {
      DELIVERY: `smtp://127.0.0.1:${relay.port}`,
      RETURN_PATH_HOST: HOST,
      RETURNS_PORT: String(returns),
    })
    const { service, sender } = outbox
    await service.openReturns()
    const ids: Record<string, string> = {}
    const names = ['unknown', 'full', 'later', 'spam', 'list', 'ok']
    for (const local of names) ids[local] = await outbox.send(`${local}@quay.example`)
    ids.gone = await outbox.send('lena@gone.example')
    for (const id of Object.values(ids)) await outbox.inState(id, 'delivered')
    const eventOf = async (local: string) => (await outbox.story(ids[local] as string)).events.at(-1)
    const bounced = ['unknown', 'full', 'later', 'spam', 'list', 'gone']
    await until(
      'all reports',
      async () => {
        const events = await Promise.all(bounced.map(eventOf))
        return events.every((event) => event?.type === 'bounced')
      },
      180_000,
    ).catch(() => t.fail('not all reports came'))

    const classes = Object.fromEntries(
      await Promise.all(names.concat('gone').map(async (local) => [local, (await eventOf(local))?.detail] as const)),
    )
    t.comment(
      `figures: ${JSON.stringify(Object.fromEntries(Object.entries(classes).map(([local, detail]) => [local, (detail as { class?: string })?.class])))}`,
    )
    t.match(classes, {
      unknown: { late: true, class: 'bad-mailbox', code: 550, enhanced: '5.1.1' },
      full: { late: true, class: 'mailbox-full' },
      spam: { late: true, class: 'spam' },
      list: { late: true },
      gone: { late: true },
      later: { late: true },
    })
    t.equal((await eventOf('ok'))?.type, 'sent')
    const suppressed =
      await service.sql`select value from suppressions where account_id = ${sender.accountId} order by value`
    t.strictSame(
      suppressed.map(({ value }) => value),
      [...unknown],
      'those whose mailbox does not exist, and nobody else',
    )
    const delays = (await service.core.returns.list({ kind: 'bounce', limit: 100 })).filter(
      ({ why }) => why === 'not-failed',
    )
    t.ok(
      delays.some(({ messageId }) => messageId === ids.later),
      'a delay was reported before',
    )
  })
}

if (existsSync('/usr/sbin/postfix') && process.getuid?.() === 0) {
  reportsOf({
    name: "Debian's Postfix",
    unknown: ['list@quay.example', 'unknown@quay.example'],
    start: ({ sink, returns }) =>
      startPostfix({
        sinkPort: sink,
        settings: [
          `transport_maps = inline:{ { ${HOST} = smtp:[127.0.0.1]:${returns} }, { gone.example = smtp:[nowhere.invalid] } }`,
          'virtual_alias_maps = inline:{ { list@quay.example = later@quay.example, unknown@quay.example } }',
          'virtual_alias_domains =',
          'smtp_host_lookup = native',
          'delay_warning_time = 1s',
          'queue_run_delay = 3s',
          'minimal_backoff_time = 3s',
          'maximal_backoff_time = 5s',
          'maximal_queue_lifetime = 25s',
          'bounce_queue_lifetime = 60s',
        ],
      }),
  })
}

const EXIM_SETTINGS = ({ sink, returns }: { sink: number; returns: number }): string => `
acl_smtp_rcpt = accept
acl_smtp_data = accept
delay_warning = 3s
delay_warning_condition = yes
queue_run_in_order
qualify_domain = exim.test
remote_max_parallel = 1

begin routers
returns:
  driver = manualroute
  domains = ${HOST}
  transport = to_returns
  route_list = * 127.0.0.1
  self = send
list:
  driver = redirect
  domains = quay.example
  local_parts = list
  data = later@quay.example, unknown@quay.example
gone:
  driver = redirect
  domains = gone.example
  allow_fail
  data = :fail: Unrouteable address
others:
  driver = manualroute
  transport = to_sink
  route_list = * 127.0.0.1
  self = send

begin transports
${transportTo('to_returns', returns)}${transportTo('to_sink', sink)}
begin retry
* * F,25s,3s
`

if (existsSync(EXIM) && process.getuid?.() === 0) {
  // It says "Unrouteable address" of domains that do not exist, too.
  const unknown = ['lena@gone.example', 'list@quay.example', 'unknown@quay.example']
  reportsOf({ name: "Debian's Exim", unknown, start: (ports) => startExim(EXIM_SETTINGS(ports)) })
}

if (process.getuid?.() !== 0) t.fail('Postfix and Exim start as root only')
