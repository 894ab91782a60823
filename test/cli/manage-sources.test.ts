import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const service = await makeService(t)
const { env } = service
const run = (...args: string[]) => postrider(env, ...args)
const lastEntry = async () => (await service.core.audit.list(0, { after: 0, limit: 1000 })).at(-1)
/** Loopback addresses, which no DNS record confirms. */
const add = (name: string, address: string, ...more: string[]) =>
  run('source', 'add', name, '--address', address, '--helo', `${name}.example.com`, '--force', ...more)

t.test(
  'sources are added, listed, changed, paused, resumed and removed, each with an entry in the audit log',
  async (t) => {
    t.match(await run('source', 'list'), { code: 0, stdout: /^no sources: the operating system chooses/ })
    t.match(await add('mta-1', '127.0.0.2'), { code: 0, stdout: /source mta-1 added/ })
    t.match(await lastEntry(), {
      action: 'source.add',
      object: 'source mta-1',
      after: { address: '127.0.0.2', pool: 'default' },
    })
    t.match(await add('mta-2', '127.0.0.3', '--weight', '30', '--address6', '2001:0DB8::0001', '--warm-up', 'gentle'), {
      code: 0,
    })
    const { sources } = await answered<{ sources: Record<string, unknown>[] }>(env, 'source', 'list')
    t.match(sources, [
      { name: 'mta-1', pool: 'default', weight: 10, isPaused: false, workers: 0, warmUpPlan: null },
      { name: 'mta-2', weight: 30, address6: '2001:db8::1', warmUpPlan: 'gentle' },
    ])
    t.match((await run('source', 'list')).stdout, /mta-1 .*no running worker has this address/)
    t.match(await run('source', 'set', 'mta-1', '--weight', '5'), { code: 0, stdout: /source mta-1 changed/ })
    t.match(await lastEntry(), { action: 'source.change', before: { weight: 10 }, after: { weight: 5 } })
    t.match(await run('source', 'pause', 'mta-1', '--reason', 'listed'), { code: 0, stdout: /paused/ })
    t.match((await run('source', 'list')).stdout, /mta-1 .*paused: listed/)
    t.match(await run('source', 'resume', 'mta-1'), { code: 0 })
    t.match(await run('source', 'resume', 'mta-1'), { code: 1, stderr: /source mta-1 is not paused/ })
    t.match(await run('source', 'warm', 'mta-1', '--plan', 'standard'), { code: 0 })
    t.match(await run('source', 'warm', 'mta-1', '--plan', 'none'), { code: 0, stdout: /has no limit/ })
    for (const name of ['mta-1', 'mta-2']) t.match(await run('source', 'remove', name, '--yes'), { code: 0 })
    t.match(await lastEntry(), { action: 'source.remove' })
  },
)

t.test('pools and rules are added, listed and removed; what is in use is not removed', async (t) => {
  t.match(await run('pool', 'add', 'bulk', '--reserved'), {
    code: 0,
    stdout: /add addresses with "source add --pool bulk"/,
  })
  t.match(await run('pool', 'rule', 'add', 'bulk', '--class', 'bulk'), { code: 1, stderr: /bulk has no sources/ })
  t.match(await add('bulk-1', '127.0.0.4', '--pool', 'bulk'), { code: 0 })
  t.match(await run('pool', 'add', 'news', '--fallback', 'bulk'), { code: 0 })
  const second = await answered<{ rule: { id: number } }>(env, 'pool', 'rule', 'add', 'bulk', '--class', 'bulk')
  const first = await answered<{ rule: { id: number } }>(
    env,
    'pool',
    'rule',
    'add',
    'news',
    '--domain',
    'News.Example.com',
    '--tag',
    'news',
    '--position',
    '1',
  )
  const { rules } = await answered<{ rules: { id: number }[] }>(env, 'pool', 'list')
  t.match(rules, [
    { id: first.rule.id, sendingDomain: 'news.example.com', tag: 'news' },
    { id: second.rule.id, class: 2 },
  ])
  t.match((await run('pool', 'list')).stdout, /bulk +bulk-1 +yes/)
  t.match(await run('source', 'remove', 'bulk-1', '--yes'), {
    code: 1,
    stderr: /is the last one of the pool bulk, which rules or other pools use/,
  })
  t.match(await run('pool', 'remove', 'bulk', '--yes'), {
    code: 1,
    stderr: /is in use by source bulk-1, rule \d+, pool news/,
  })
  for (const { rule } of [first, second])
    t.match(await run('pool', 'rule', 'remove', '--rule', String(rule.id), '--yes'), { code: 0 })
  t.match(await run('pool', 'set', 'news', '--fallback', 'none', '--reserved', 'yes'), { code: 0 })
  t.match(await run('pool', 'remove', 'news', '--yes'), { code: 0 })
  t.match(await run('source', 'remove', 'bulk-1', '--yes'), { code: 0 })
  t.match(await run('pool', 'remove', 'bulk', '--yes'), { code: 0 })
})

t.test('smart hosts are added, listed without their passwords, and removed', async (t) => {
  const url = 'smtp://relay:s3cret@relay.example.com:587'
  t.match(
    await run(
      'smart-host',
      'add',
      'backup',
      '--url',
      url,
      '--for',
      'blocked,deadline',
      '--class',
      'urgent',
      '--daily-cap',
      '500',
    ),
    { code: 0 },
  )
  const { smartHosts } = await answered<{ smartHosts: object[] }>(env, 'smart-host', 'list')
  t.match(smartHosts, [
    {
      name: 'backup',
      host: 'relay.example.com',
      port: 587,
      usedFor: ['blocked', 'deadline'],
      classes: [0],
      dailyCap: 500,
    },
  ])
  const [row] = await service.sql`select encode(url, 'escape') as url from smart_hosts`
  for (const text of [JSON.stringify(smartHosts), JSON.stringify(await lastEntry()), row?.url])
    t.notMatch(text, /s3cret/)
  t.match(await run('smart-host', 'remove', 'backup', '--yes'), { code: 0 })
  t.match(await run('smart-host', 'remove', 'backup', '--yes'), { code: 1, stderr: /"backup" does not exist/ })
})

t.test('each mistake is an error that names the parameter, and changes nothing', async (t) => {
  t.match(await add('one', '127.0.0.5'), { code: 0 })
  const before = JSON.stringify(await service.core.sources.read())
  for (const [args, stderr] of [
    [
      ['source', 'add', 'UPPER', '--address', '127.0.0.6', '--helo', 'a.example', '--force'],
      /(?:--name|\[name\] is invalid): must have 1 to 63/,
    ],
    [
      ['source', 'add', 'two', '--address', '127.0.0', '--helo', 'a.example', '--force'],
      /(?:--address|\[address\] is invalid): /,
    ],
    [
      ['source', 'add', 'two', '--address', '0.0.0.0', '--helo', 'a.example', '--force'],
      /(?:--address|\[address\] is invalid): /,
    ],
    [
      ['source', 'add', 'two', '--address', '127.0.0.5', '--helo', 'a.example', '--force'],
      /(?:--address|\[address\] is invalid): is in use by source one/,
    ],
    [
      ['source', 'add', 'one', '--address', '127.0.0.6', '--helo', 'a.example', '--force'],
      /(?:--name|\[name\] is invalid): "one" is in use/,
    ],
    [
      ['source', 'add', 'two', '--address', '127.0.0.6', '--helo', 'mta', '--force'],
      /(?:--helo|\[helo\] is invalid): /,
    ],
    [
      ['source', 'add', 'two', '--address', '127.0.0.6', '--address6', '127.0.0.7', '--helo', 'a.example', '--force'],
      /(?:--address6|\[address6\] is invalid): /,
    ],
    [
      ['source', 'add', 'two', '--address', '127.0.0.6', '--bind', '::1', '--helo', 'a.example', '--force'],
      /(?:--bind|\[bind\] is invalid): /,
    ],
    [
      ['source', 'add', 'two', '--address', '127.0.0.6', '--helo', 'a.example', '--weight', '101', '--force'],
      /(?:--weight|\[weight\] is invalid): /,
    ],
    [
      ['source', 'add', 'two', '--address', '127.0.0.6', '--helo', 'a.example', '--pool', 'none', '--force'],
      /(?:--pool|\[pool\] is invalid): "none" does not exist/,
    ],
    [
      ['source', 'add', 'two', '--address', '127.0.0.6', '--helo', 'a.example', '--warm-up', 'fast', '--force'],
      /--warm-up: must be one of standard, gentle/,
    ],
    [
      ['source', 'pause', 'two', '--reason', 'x'],
      /(?:--source|\[source\] is invalid): "two" does not exist; existing sources: one/,
    ],
    [['source', 'pause', 'one', '--reason', ' '], /(?:--reason|\[reason\] is invalid): /],
    [['pool', 'add', 'default'], /(?:--pool|\[pool\] is invalid): "default" exists/],
    [
      ['pool', 'set', 'default', '--fallback', 'default'],
      /(?:--fallback|\[fallback\] is invalid): must be another pool/,
    ],
    [
      ['pool', 'rule', 'add', 'default'],
      /(?:--account|\[account\] is invalid): must be given, or class, domain or tag/,
    ],
    [
      ['pool', 'rule', 'add', 'default', '--account', '999999'],
      /(?:--account|\[account\] is invalid): account 999999 not found/,
    ],
    [['pool', 'rule', 'add', 'default', '--domain', 'a b'], /(?:--domain|\[domain\] is invalid): /],
    [
      ['pool', 'rule', 'add', 'default', '--tag', 'x', '--position', '5'],
      /(?:--position|\[position\] is invalid): must be from 1 to 1/,
    ],
    [['pool', 'rule', 'remove', '--rule', '999', '--yes'], /(?:--rule|\[rule\] is invalid): 999 does not exist/],
    [['smart-host', 'add', 'x', '--url', 'http://a', '--for', 'spill'], /(?:--url|\[url\] is invalid): /],
    [['smart-host', 'add', 'x', '--url', 'smtp://a', '--for', 'always'], /(?:--for|\[for\] is invalid): /],
    [
      ['smart-host', 'add', 'x', '--url', 'smtp://a', '--for', 'spill', '--daily-cap', '0'],
      /(?:--daily-cap|\[daily-cap\] is invalid): /,
    ],
  ] as const) {
    t.match(await run(...args), { code: 1, stderr }, args.join(' '))
  }
  for (const args of [
    ['source', 'set', 'one'],
    ['source', 'add', 'two', '--address', '127.0.0.6'],
    ['pool', 'set', 'default', '--reserved', 'perhaps'],
    ['pool', 'rule', 'add', 'default', '--class', 'express'],
    ['smart-host', 'add', 'x', '--url', 'smtp://a', '--for', 'spill', '--class', 'express'],
  ]) {
    t.match(await run(...args), { code: 2 }, args.join(' '))
  }
  t.equal(JSON.stringify(await service.core.sources.read()), before)
  t.strictSame(await service.core.sources.smartHosts(), [])
})
