import { messageIdText, openDatabase, parseSearch } from '@postrider/core'
import t, { type Test } from 'tap'
import { filterOf, testOf } from '../../../packages/core/src/messages/search/block-filter.ts'
import { type Entry, entryOf, hasTerm } from '../../../packages/core/src/messages/search/entry.ts'
import { fold } from '../../../packages/core/src/messages/search/fold.ts'
import { moveClock } from '../../helpers/database.ts'
import { erase } from '../../helpers/erase.ts'
import { makeService, type Sender, type TestService } from '../../helpers/service.ts'
import { nodesOf, planOf, recordStatements } from '../../helpers/statements.ts'
import { longestTurnOf } from '../../helpers/turns.ts'
import { openCore } from '../delivery/queue-of.ts'
import { finish } from '../retention/weeks.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

/** Puts everything into blocks. */
async function fill(t: Test, { core, sql }: TestService): Promise<void> {
  t.teardown(() => moveClock(sql, '0'))
  await moveClock(sql, '11 minutes')
  while (await core.messages.fillSearch());
}

async function find({ core }: TestService, { accountId }: Sender, search: string, limit = 50): Promise<string[]> {
  const { deliveries, partial } = await core.messages.list({ accountId, search: parseSearch(search), limit })
  return [...deliveries.map(({ recipient }) => recipient.split('@')[0] ?? ''), ...(partial ? ['…'] : [])]
}

/** A generator of numbers below a limit, the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

t.test('a filter has the bits of every term that one of its deliveries has', async (t) => {
  const next = numbers(7)
  const pick = <T>(of: readonly T[]): T => of[next(of.length)] as T
  const word = () => Array.from({ length: 1 + next(14) }, () => pick([...'abcdeinorstuäéß0189'])).join('')
  const some = (most: number) => Array.from({ length: 1 + next(most) }, word).join(' ')
  let terms = 0
  for (let block = 0; block < 40; block++) {
    const entries: Entry[] = Array.from({ length: 64 }, () =>
      entryOf({
        recipient: `${word()}.${word()}@${word()}.example`,
        name: next(3) === 0 ? some(2) : null,
        subject: some(8),
        tags: [word(), some(2)],
        reference: next(2) === 0 ? `${word()}-${next(1e6)}` : null,
        from: `${word()}@ship.example`,
        header: next(2) === 0 ? `<${word()}.${next(1e9)}@${word()}.example>` : null,
      }),
    )
    const filter = filterOf(entries)
    for (const entry of entries) {
      const field = pick(entry.filter((text) => text !== ''))
      const from = next(field.length)
      const text = fold(field.slice(from, from + 1 + next(20)))
      if (text === '') continue
      for (const kind of ['any', 'to', 'subject', 'tag', 'reference', 'from', 'header'] as const) {
        for (const isWhole of [true, false]) {
          const term = {
            field: kind,
            text,
            isWhole,
            ...(kind === 'any' && text.includes(' ') && next(2) === 0 ? { isHeader: true as const } : {}),
          }
          if (!hasTerm(entry, term)) continue
          terms++
          const test = testOf(term)
          const isSet = (bit: number) =>
            ((filter[Math.floor((bit % (filter.length * 8)) / 8)] ?? 0) >> ((bit % (filter.length * 8)) % 8)) & 1
          const has = !test || test.bits.some((bits) => bits.every(isSet))
          if (!has) t.fail(`${kind} ${isWhole ? 'whole' : 'beginning'} "${text}" of ${JSON.stringify(entry)}`)
          if (test && !entry.join('\x01').includes(test.text))
            t.fail(`"${test.text}" is not in ${JSON.stringify(entry)}`)
        }
      }
    }
  }
  t.ok(terms > 2000, `${terms} terms`)
})

t.test('what is younger than a minute, and few for ten minutes, is in no block and is found', async (t) => {
  const service = await makeService(t)
  const { core, sql } = service
  const sender = await service.makeSender()
  const blocks = async () => (await sql`select from search_blocks`).length
  t.teardown(() => moveClock(sql, '0'))
  await acceptMessage(service, sender, { envelopes: [envelopeTo('a@harbor.example')] })
  t.equal(await core.messages.fillSearch(), false)
  await moveClock(sql, '9 minutes')
  t.equal(await core.messages.fillSearch(), false, 'a block of one')
  t.equal(await blocks(), 0)
  await moveClock(sql, '11 minutes')
  t.equal(await core.messages.fillSearch(), true)
  t.equal(await core.messages.fillSearch(), false)
  t.equal(await blocks(), 1)
  await acceptMessage(service, sender, { envelopes: [envelopeTo('b@harbor.example')] })
  t.strictSame(await find(service, sender, 'harbor'), ['b', 'a'])
})

t.test('deliveries of messages that fill several blocks are found once, page by page, newest first', async (t) => {
  const service = await makeService(t)
  const { core } = service
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  const many = (name: string) => Array.from({ length: 100 }, (_, no) => envelopeTo(`${name}${no}@harbor.example`))
  await acceptMessage(service, sender, { envelopes: many('a') })
  await acceptMessage(service, other, { envelopes: many('other') })
  await acceptMessage(service, sender, { envelopes: [envelopeTo('single@harbor.example')] })
  await acceptMessage(service, sender, { envelopes: many('b') })
  await fill(t, service)
  const { accountId } = sender
  const whole = await find(service, sender, 'harbor', 300)
  t.equal(whole.length, 201)
  t.strictSame([whole[0], whole[100], whole[200]], ['b99', 'single', 'a0'])
  const found: string[] = []
  let after: string | undefined
  for (let page = 0; page === 0 || after !== undefined; page++) {
    const { deliveries, next } = await core.messages.list({ accountId, search: parseSearch('harbor'), limit: 7, after })
    found.push(...deliveries.map(({ recipient }) => recipient.split('@')[0] ?? ''))
    after = next ?? undefined
  }
  t.strictSame(found, whole)
  t.strictSame(await find(service, sender, 'harbor -to:b', 300), whole.slice(100))
  t.strictSame(await find(service, other, 'single'), [])
  t.strictSame(await find(service, sender, 'a99'), ['a99'])
  const id = messageIdText(
    (await core.messages.list({ accountId, search: parseSearch('single'), limit: 1 })).deliveries[0]?.messageId ?? '',
  )
  t.strictSame(await find(service, sender, `${id} harbor`), ['single'])
})

t.test('a search reads blocks by their index, in order, and the filter before the texts', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await acceptMessage(service, sender, {})
  await fill(t, service)
  const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
  const core = openCore(t, service, 2, recorder.url)
  await core.messages.list({ accountId: sender.accountId, search: parseSearch('nothing-like this'), limit: 10 })
  const read = recorder.statements().filter(({ text }) => text.includes('from search_blocks'))
  t.ok(read.length >= 2)
  const inOrder = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => inOrder.end())
  await inOrder`select set_config(name, 'off', false) from unnest(array['enable_sort', 'enable_bitmapscan', 'enable_seqscan']) name`
  for (const statement of read) {
    const nodes = nodesOf(await planOf(inOrder, statement)).map(
      ({ node }) => `${node['Node Type']} ${node['Index Name'] ?? ''}`,
    )
    t.notOk(
      nodes.some((node) => /^(?:Seq Scan|Sort|Bitmap)/.test(node)),
      nodes.join(', '),
    )
  }
})

t.test('an erased recipient is in no block, and the others of it are found', async (t) => {
  const service = await makeService(t)
  const { sql } = service
  const sender = await service.makeSender()
  const named = { names: new Map([['anna@harbor.example', 'Annabella Rossi']]) }
  await acceptMessage(service, sender, {
    envelopes: [envelopeTo('anna@harbor.example', named)],
    subject: 'For Annabella',
  })
  await acceptMessage(service, sender, {
    envelopes: [envelopeTo('anna@harbor.example', named), envelopeTo('nils@harbor.example')],
    subject: 'Berth 4',
  })
  await fill(t, service)
  t.strictSame(await find(service, sender, 'annabella'), ['anna', 'anna'])
  await finish(service)
  const [before] = await sql<{ filter: string }[]>`select encode(filter, 'hex') as filter from search_blocks`
  await erase(service.core, sender.accountId, ['anna@harbor.example'])
  const blocks = await sql<
    { texts: string; filter: string }[]
  >`select texts, encode(filter, 'hex') as filter from search_blocks`
  t.equal(blocks.length, 1)
  t.notMatch(blocks[0]?.texts, /anna|rossi/)
  t.not(blocks[0]?.filter, before?.filter)
  t.strictSame(await find(service, sender, 'annabella'), [])
  t.strictSame(await find(service, sender, 'nils'), ['nils'])
  t.strictSame(await find(service, sender, 'berth nils'), ['nils'])
})

t.test(
  'a search that reads a thousand long texts, one by one or in blocks, lets others have their turn, as the filling of these does',
  async (t) => {
    const service = await makeService(t)
    const sender = await service.makeSender()
    const long = (letter: string) => `${letter.repeat(900)} `.repeat(2)
    const envelopes = Array.from({ length: 250 }, (_, at) => {
      const recipient = `r${at}@reader.example`
      return envelopeTo(recipient, { names: new Map([[recipient, long('ﷺ')]]) })
    })
    for (let message = 0; message < 4; message++) {
      await acceptMessage(service, sender, { subject: long('é'), envelopes })
    }
    const longest = await longestTurnOf(50, () => find(service, sender, 'nothing -"é ß"'))
    t.ok(longest < 50, `${longest} ms, one by one`)
    const again = async () => {
      await service.sql`truncate search_blocks`
      await service.sql`update search_progress set up_to = '00000000-0000-0000-0000-000000000000'`
    }
    t.teardown(() => moveClock(service.sql, '0'))
    await moveClock(service.sql, '11 minutes')
    const filling = await longestTurnOf(100, () => service.core.messages.fillSearch(), again)
    t.ok(filling < 100, `${filling} ms, to fill the blocks`)
    // No filter says anything of what is excluded.
    const excluded = Array.from({ length: 38 }, (_, at) => `-"q${at} z"`).join(' ')
    const inBlocks = await longestTurnOf(32, () => find(service, sender, `${excluded} -eee`))
    t.ok(inBlocks < 32, `${inBlocks} ms, in blocks`)
  },
)
