import { openDatabase } from '@postrider/core'
import t, { type Test } from 'tap'
import { PERSON } from '../../bench/growth/scale.ts'
import { BOUNCED, DEFERRED, DELIVERED, makeQueue } from '../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { parkedAt } from '../helpers/claim.ts'
import { makeGrownService } from '../helpers/grown.ts'
import { isInTime } from '../helpers/pace.ts'
import { nodesOf, planOf, recordStatements, wholeScans } from '../helpers/statements.ts'
import { answered, postrider } from './postrider.ts'

interface Listed {
  readonly messageId: string
  readonly recipientNo: number
  readonly accountId: number
  readonly recipient: string
  readonly state: string
  readonly attempts: number
  readonly acceptedAt: string
  readonly nextAt: string | null
  readonly finishedAt: string | null
}
interface Page {
  readonly deliveries: readonly Listed[]
  readonly next: string | null
  readonly partial: boolean
}

t.test('message list shows deliveries newest first, by each filter and page by page', async (t) => {
  const { service, core, sender, register, claimAll } = await makeQueue(t)
  const other = await service.makeSender()
  const { env } = service
  const list = (...args: string[]) => answered<Page>(env, 'message', 'list', ...args)
  const names = async (...args: string[]) =>
    (await list(...args)).deliveries.map(({ recipient }) => recipient.split('@')[0])
  t.match((await postrider(env, 'message', 'list')).stdout, /^no deliveries found since 20\S+Z\n$/)

  const envelopes = (...all: string[]) => all.map((name) => envelopeTo(`${name}@harbor.example`))
  const first = await acceptMessage(service, sender, {
    envelopes: envelopes('a', 'b', 'c', 'd'),
    tags: ['invoice', 'x'],
  })
  const workerId = await register()
  const claimed = await claimAll(workerId)
  const outcomes = [DELIVERED, BOUNCED, DEFERRED]
  await core.deliveries.record(
    claimed.flatMap((one) => {
      const outcome = outcomes[one.recipientNo]
      return outcome ? [{ ...one, workerId, outcome }] : []
    }),
  )
  await acceptMessage(service, sender, { envelopes: envelopes('later'), scheduledAt: new Date(Date.now() + 3_600_000) })
  await acceptMessage(service, sender, { envelopes: envelopes('e', 'a'), tags: ['letter'] })
  await acceptMessage(service, other, { envelopes: envelopes('a', 'b') })

  t.strictSame(await names(), ['b', 'a', 'a', 'e', 'later', 'd', 'c', 'b', 'a'])
  const account = ['--account', String(sender.accountId)]
  t.strictSame(await names(...account), ['a', 'e', 'later', 'd', 'c', 'b', 'a'])
  for (const [state, all, own] of [
    ['delivered', ['a'], ['a']],
    ['bounced', ['b'], ['b']],
    ['dropped', [], []],
    ['expired', [], []],
    ['deferred', ['c'], ['c']],
    ['sending', ['d'], ['d']],
    ['scheduled', ['later'], ['later']],
    ['queued', ['b', 'a', 'a', 'e'], ['a', 'e']],
  ] as const) {
    t.strictSame(await names('--state', state), all, state)
    t.strictSame(await names('--state', state, ...account), own, `${state} of an account`)
  }
  t.strictSame(await names('--recipient', 'A@harbor.example'), ['a', 'a', 'a'])
  t.strictSame(await names('--recipient', 'a@harbor.example', ...account, '--state', 'delivered'), ['a'])
  t.strictSame(await names('--recipient', 'd@harbor.example'), ['d'], 'also in flight')
  t.strictSame(await names('--recipient', 'a@harbor.example', '--tag', 'letter'), ['a'])
  t.strictSame(await names('--tag', 'invoice'), ['d', 'c', 'b', 'a'])
  t.strictSame(await names('--tag', 'invoice', '--state', 'deferred'), ['c'])
  t.strictSame(await names('--state', 'sending', '--tag', 'letter'), [])

  const whole = (await list()).deliveries
  const pages: Listed[] = []
  for (let after: string | null = null, count = 0; count === 0 || after !== null; count++) {
    const page: Page = await list('--limit', '2', ...(after === null ? [] : ['--after', after]))
    t.ok(page.deliveries.length <= 2)
    t.notOk(page.partial)
    pages.push(...page.deliveries)
    after = page.next
  }
  t.strictSame(pages, whole, 'pages do not overlap and leave nothing out')
  const [b, a] = [...whole]
    .reverse()
    .filter(({ recipientNo }) => recipientNo < 2)
    .slice(0, 2)
    .reverse()
  t.match(b, { messageId: first.messageId.replaceAll('-', ''), state: 'bounced', attempts: 1, nextAt: null })
  t.match(a, { state: 'delivered', finishedAt: /^20.*Z$/, acceptedAt: /^20.*Z$/, accountId: sender.accountId })
  t.match(
    whole.find(({ state }) => state === 'deferred'),
    { nextAt: /^20.*Z$/, finishedAt: null },
  )

  const { stdout } = await postrider(env, 'message', 'list', '--limit', '1')
  t.match(stdout, /^message +no +account +state +recipient +subject +attempts +accepted +next try +finished\n/)
  t.match(stdout, /\nthere are more; continue with --after [0-9a-f]{32}\.1\n$/)

  const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
  t.strictSame(await names('--until', hourAgo), [])
  t.strictSame(await names('--since', hourAgo, '--state', 'bounced'), ['b'])
})

t.test('message list takes a search, whose errors name the part that is wrong', async (t) => {
  const { service, sender } = await makeQueue(t)
  const { env } = service
  await acceptMessage(service, sender, { subject: 'Berth 4' })
  await acceptMessage(service, sender, { subject: 'Berth 5', envelopes: [envelopeTo('nils@harbor.example')] })
  const names = async (...args: string[]) =>
    (await answered<Page>(env, 'message', 'list', ...args)).deliveries.map(({ recipient }) => recipient.split('@')[0])
  t.strictSame(await names('subject:Ber*'), ['nils', 'lena'])
  t.strictSame(await names('berth nils'), ['nils'])
  t.strictSame(await names('subject:"berth 4" state:queued'), ['lena'])
  t.strictSame(await names('subject:Ber*', '--recipient', 'nils@harbor.example'), ['nils'])
  for (const [args, error] of [
    [['colour:red'], /^postrider: search colour: is not a key; use to, from, state, /],
    [
      ['state:bounced', '--state', 'queued'],
      /^postrider: --state the search has more than one condition of this kind; use one \(got "queued"\)/,
    ],
    [['--state', 'lost'], /^postrider: --state must be one or several of scheduled, .* \(got "lost"\)/],
  ] as const) {
    t.match(await postrider(env, 'message', 'list', ...args), { code: 2, stderr: error })
  }
})

t.test('message list and message show tell planned attempts from pauses and holds', async (t) => {
  const { service, core, sender, accept, register, claimAll } = await makeQueue(t)
  const { env } = service
  const workerId = await register()
  const park = async (name: string, where: Parameters<typeof parkedAt>[1]) => {
    const id = await accept([`${name}@harbor.example`])
    await core.deliveries.park(workerId, parkedAt(await claimAll(workerId), where))
    return id
  }
  const paused = await park('paused', { place: 'google', waitingFor: 'pause' })
  await park('sourced', { place: 'google@mta-1', waitingFor: 'connections' })
  await park('own', { place: 'mx.pier.example', waitingFor: 'pause' })
  await park('slow', { place: 'yahoo', waitingFor: 'rate' })
  const held = await accept(['held@quay.example'])
  const { id } = await core.queue.plan('hold', { domain: 'quay.example' })
  await core.queue.confirm(id, 'hold')
  while (await core.queue.workSome());
  const other = await service.makeSender()
  const pause = { seconds: 7200, reason: 'they asked for it' }
  const { until } = await core.queue.pause({ ...pause, place: 'google', accountId: null })
  await core.queue.pause({ ...pause, place: 'mx.pier.example', accountId: sender.accountId })
  await core.queue.pause({ ...pause, place: 'yahoo', accountId: other.accountId })

  const { stdout } = await postrider(env, 'message', 'list')
  const next = Object.fromEntries(
    stdout.split('\n').flatMap((line) => {
      const [, name, shown] = /queued +([a-z]+)@\S+ .* 0 +20\S+Z *(.*)$/.exec(line) ?? []
      return name === undefined ? [] : [[name, shown?.trim().replace(/20\S+Z/, 'TIME')]]
    }),
  )
  t.strictSame(next, {
    held: 'held',
    slow: '',
    own: 'paused until TIME',
    sourced: 'paused until TIME',
    paused: 'paused until TIME',
  })
  const { deliveries } = await answered<Page>(env, 'message', 'list', '--recipient', 'paused@harbor.example')
  t.match(deliveries, [{ nextAt: until.toISOString(), isPaused: true, isHeld: false }])
  const show = async (message: string) => (await postrider(env, 'message', 'show', message)).stdout
  t.match(await show(paused), `queued         0  paused until ${until.toISOString()}\n`)
  t.match(await show(held), /queued +0 +held\n/)
})

t.test('on a grown database each search of an account is found by an index', async (t) => {
  const { service, owners } = await makeGrownService(t)
  const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
  const env = { ...service.env, DATABASE_URL: recorder.url }
  const inOrder = await openInOrder(t, service.env.DATABASE_URL as string)
  for (const [search, index] of [
    ['state:waiting', 'delivery_queue_listed'],
    ['state:queued from:@large-0.example', 'delivery_queue_listed'],
    ['state:queued subject:"Your weekly"*', 'account'],
    ['subject:"No such subject"*', 'account'],
    ['from:desk@large-0.example tag:tag-000001 door:v2', 'account'],
    ['has:attachment to:@d7.example', 'account'],
    ['domain:large-0.example state:failed', 'account'],
  ] as const) {
    recorder.clear()
    const page = await answered<Page>(
      env,
      'message',
      'list',
      search,
      '--account',
      String(owners.large),
      '--since',
      '2020-01-01',
    )
    t.ok(page.partial || page.next === null || page.deliveries.length === 50, search)
    const read = recorder
      .statements()
      .filter(({ text }) => /^\s*select (?:d\.message_id|id::text|message_id::text)/.test(text))
    t.ok(read.length > 0)
    for (const statement of read) {
      const plan = await planOf(inOrder, statement)
      // What is claimed is all that this index has.
      const whole = wholeScans(plan).filter((scan) => scan !== 'Index Scan on delivery_queue')
      t.same(whole, [], `${search}: ${statement.text}`)
      const names = nodesOf(plan).map(({ node }) => node['Index Name'] ?? '')
      t.ok(
        names.some((name) => name.includes(index)),
        `${search}: ${names}`,
      )
    }
  }
})

t.test('on a grown database every combination of filters is found by an index, within its range', async (t) => {
  const { service, owners } = await makeGrownService(t)
  const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
  const env = { ...service.env, DATABASE_URL: recorder.url }
  const inOrder = await openInOrder(t, service.env.DATABASE_URL as string)
  const accounts = [[], ['--account', String(owners.large)]]
  const states = ['delivered', 'bounced', 'expired', 'deferred', 'sending'].map((state) => ['--state', state])
  const person = ['--recipient', PERSON]
  for (const account of accounts) {
    for (const state of [[], ...states]) {
      for (const tag of [[], ['--tag', 'tag-000001']]) {
        for (const recipient of [[], person]) {
          const args = [...account, ...state, ...tag, ...recipient]
          recorder.clear()
          const began = performance.now()
          const page = await answered<Page>(env, 'message', 'list', '--limit', '5', ...args)
          t.ok(isInTime(began, 8000), args.join(' '))
          if (args.length === 0) t.equal(page.deliveries.length, 5)
          const read = recorder.statements().filter(({ text }) => /messages|delivery_queue|finished/.test(text))
          for (const statement of read.filter(({ text }) =>
            /^\s*select (?:d\.message_id|id::text|message_id::text|replace\(w)/.test(text),
          )) {
            const sorted = recipient.length > 0 || state.includes('sending')
            const plan = await planOf(sorted ? service.sql : inOrder, statement)
            const whole = wholeScans(plan).filter((scan) => scan !== 'Index Scan on delivery_queue')
            t.same(whole, [], `${args.join(' ')}: ${statement.text}`)
            const names = nodesOf(plan).map(({ node }) => node['Index Name'] ?? '')
            if (recipient.length > 0 && /hashtext/.test(statement.text)) {
              t.ok(names.includes('delivery_queue_person'), 'who waits is found by the index of persons')
              const finished = nodesOf(plan).filter(({ node }) => /^finished_/.test(node['Relation Name'] ?? ''))
              t.same(
                finished
                  .map(({ node }) => node['Index Cond'] ?? '')
                  .filter((text) => !text.includes('hashtextextended')),
                [],
                'and so is what is finished',
              )
              t.notOk(
                names.some((name) => /^messages.*account/.test(name)),
                'and never by the account',
              )
            }
          }
        }
      }
    }
  }
  t.ok((await answered<Page>(env, 'message', 'list', ...person, '--since', '2020-01-01')).deliveries.length > 10)
})

/** A connection that plans as the list does but for a person. Parameters are null where plans are read: no week may be left out for that. */
async function openInOrder(t: Test, url: string) {
  const sql = openDatabase({ url, name: 'test', connections: 1 })
  t.teardown(() => sql.end())
  await sql`
    select set_config(name, 'off', false)
      from unnest(array['enable_sort', 'enable_hashagg', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan',
                        'enable_seqscan', 'enable_material', 'enable_partition_pruning']) name`
  return sql
}
