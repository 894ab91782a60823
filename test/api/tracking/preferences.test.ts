import { createSecrets, makeTrackingToken, openDatabase, optOutHash } from '@postrider/core'
import t from 'tap'
import { naughtyStrings, skipWithoutThem } from '../../core/naughty-strings.ts'
import { acceptMessage, envelopeTo } from '../../core/submission.ts'
import { until } from '../../helpers/until.ts'
import { type CallAnswer, FORM } from '../call.ts'
import { BROWSER, makeReaders } from './readers.ts'

const readers = await makeReaders(t)
const { service, sender, ask, leave } = readers
let people = 0

interface Chooser {
  readonly person: string
  readonly messageId: string
  readonly page: string
  /** Submits the form of the page. */
  save(shown: readonly number[], wanted: readonly number[]): Promise<CallAnswer>
  /** The groups that the person has left; 0 is all mail. */
  left(): Promise<number[]>
  told(): Promise<{ type: string; group: unknown }[]>
}

/** A person with a message that shows these groups; undefined: it names none. */
async function makeChooser(groups: readonly number[] | undefined, by = sender): Promise<Chooser> {
  const person = `chooser${++people}@harbor.example`
  const settings = { group: groups?.[0] ?? 1, ...(groups ? { groupsToDisplay: groups } : {}) }
  const { messageId } = await acceptMessage(service, by, { envelopes: [envelopeTo(person)], settings })
  const page = pathOf(messageId, person, by.accountId)
  return {
    person,
    messageId,
    page,
    save: (shown, wanted) =>
      post(page, `shown=${shown.join(',')}${wanted.map((id) => `&group=${id}`).join('')}&do=save`),
    async left() {
      const rows = await service.sql<{ group: number }[]>`
        select group_id as "group" from suppressions where account_id = ${by.accountId} and value = ${person} order by 1`
      return rows.map(({ group }) => group)
    },
    async told() {
      const rows = await service.sql<{ type: string; group: unknown }[]>`
        select type, detail->'group' as "group" from events where message_id = ${messageId}::uuid and type <> 'processed'
         order by occurred_at, id`
      return rows.map((row) => ({ ...row }))
    },
  }
}

function pathOf(messageId: string, person: string, accountId = sender.accountId): string {
  const secrets = createSecrets(service.env.SECRET_KEY as string)
  const url = optOutHash(secrets, accountId, person)
  const common = { accountId, messageId, recipientNo: 0, group: 1, link: 0, url }
  return `/t/p/${makeTrackingToken(secrets, { ...common, kind: 'preferences' })}`
}

function post(path: string, body: string): Promise<CallAnswer> {
  return ask(path, { method: 'POST', body, headers: FORM })
}

async function makeGroup(id: number, name: string, description = '', accountId = sender.accountId): Promise<number> {
  await service.core.groups.create(accountId, { id, name, description, isDefault: false })
  return id
}

/** The boxes of a page: the group of each, and whether it is ticked. */
function boxesIn({ text }: CallAnswer): [number, boolean][] {
  return [...text.matchAll(/<input type="checkbox" name="group" value="(\d+)"( checked)?/g)].map(([, id, checked]) => [
    Number(id),
    checked !== undefined,
  ])
}

/** How many elements a page has, without the marks of invisible signs. */
function tagsOf({ text }: CallAnswer): number {
  return text.replaceAll('<span class="ctl">', '').match(/<\w+/g)?.length ?? 0
}

await makeGroup(1, 'News', 'Once a month')
await makeGroup(2, 'Offers')
await makeGroup(3, 'Berths')

t.test('the page shows the groups that the message names, in its order, and opening it changes nothing', async (t) => {
  const chooser = await makeChooser([3, 1, 77])
  for (const method of ['GET', 'HEAD']) t.equal((await ask(chooser.page, { method })).status, 200)
  const page = await ask(chooser.page)
  t.strictSame(boxesIn(page), [
    [3, true],
    [1, true],
  ])
  t.match(page.text, 'Once a month')
  t.notMatch(page.text, /chooser|harbor|<script/, 'nothing of who it is, and no script')
  t.strictSame(await chooser.left(), [])
  t.strictSame(
    boxesIn(await ask((await makeChooser(undefined)).page)).length,
    3,
    'without names, all groups of the account',
  )
})

t.test('saving leaves and joins groups in one step, each of which is told once', async (t) => {
  const chooser = await makeChooser([1, 2, 3])
  const saved = await chooser.save([1, 2, 3], [2])
  t.match(saved.text, /role="status">Your preferences have been saved/)
  t.strictSame(boxesIn(saved), [
    [1, false],
    [2, true],
    [3, false],
  ])
  t.strictSame(await chooser.left(), [1, 3])
  t.strictSame(await chooser.told(), [
    { type: 'unsubscribed', group: 1 },
    { type: 'unsubscribed', group: 3 },
  ])
  await chooser.save([1, 2, 3], [2])
  t.equal((await chooser.told()).length, 2, 'said again, it is not told again')
  await chooser.save([1, 2, 3], [1, 2])
  t.strictSame(await chooser.left(), [3])
  t.strictSame((await chooser.told()).slice(2), [{ type: 'resubscribed', group: 1 }])
})

t.test('a choice that is saved is said to be saved, also if the database is too slow to show it', async (t) => {
  const chooser = await makeChooser([1, 2])
  const open = () => openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  const [first, second] = [open(), open()]
  t.teardown(() => Promise.all([first.end({ timeout: 0 }), second.end({ timeout: 0 })]))
  const isAwaited = (table: string) =>
    until(`a lock of ${table}`, async () => {
      const found = await service.sql`select from pg_locks where not granted and relation = ${table}::regclass`
      return found.length > 0
    })
  // The change has read the groups and waits; whoever wants to read them after it waits longer.
  await first`begin`
  await first`lock table suppressions in share mode`
  const saving = chooser.save([1, 2], [2])
  await isAwaited('suppressions')
  await second`begin`
  const locking = second`lock table unsubscribe_groups in access exclusive mode`.execute()
  await isAwaited('unsubscribe_groups')
  await first`rollback`
  const saved = await saving
  await locking.then(() => second`rollback`)
  t.equal(saved.status, 200)
  t.match(saved.text, /role="status">Your preferences have been saved.*<a href="\?lang=en">Choose which/)
  t.notMatch(saved.text, 'Do you want to stop receiving', 'not the question of the unsubscribe page')
  t.strictSame(await chooser.left(), [1])
})

t.test('numbers of other groups, of other accounts and of no group have no effect', async (t) => {
  const other = await service.makeSender()
  await makeGroup(9, 'Theirs', '', other.accountId)
  const chooser = await makeChooser([1])
  t.equal((await chooser.save([1, 2, 9, 77, 2 ** 33], [9, 2])).status, 200)
  t.strictSame(await chooser.left(), [1])
  await post(chooser.page, 'shown=1,x,-2,1e3,%00&group=one&do=save')
  t.strictSame(await chooser.left(), [1])
  const [theirs] = await service.sql`select count(*)::int as n from suppressions where account_id = ${other.accountId}`
  t.equal(theirs?.n, 0)
  for (const body of ['', 'do=everything', 'group=1']) t.equal((await post(chooser.page, body)).status, 400, body)
  t.equal((await post(chooser.page, `do=save&shown=${'1,'.repeat(5000)}`)).status, 413)
})

t.test('a group that was not on the page stays as it is', async (t) => {
  const chooser = await makeChooser([1, 2])
  await chooser.save([1], [])
  t.strictSame(await chooser.left(), [1])
})

t.test('all mail can be left there, and taken back as a mistake', async (t) => {
  const chooser = await makeChooser([1, 2])
  const left = await post(chooser.page, 'do=leave')
  t.match(left.text, 'You are unsubscribed')
  t.strictSame(await chooser.left(), [0])
  const asked = await ask(chooser.page)
  t.match(asked.text, /Was that a mistake.*value="again-all"/s)
  t.match((await post(chooser.page, 'do=again-all')).text, 'You are subscribed again')
  t.strictSame(await chooser.left(), [])
  t.strictSame(
    (await chooser.told()).map(({ type }) => type),
    ['unsubscribed', 'resubscribed'],
  )
})

t.test('an unsubscribe is taken back on its confirmation page; what others entered is not', async (t) => {
  const person = `back${++people}@harbor.example`
  const message = await readers.deliver([person])
  const reasons = async () =>
    (
      await service.sql`select reason from suppressions where account_id = ${sender.accountId} and value = ${person}`
    ).map(({ reason }) => reason)
  const confirmed = await post(leave(message), 'List-Unsubscribe=One-Click')
  t.match(confirmed.text, 'value="again-all"')
  t.match((await ask(leave(message))).text, 'You are unsubscribed', 'and the link shows it when it is followed again')
  await post(leave(message), 'do=again-all')
  t.strictSame(await reasons(), [])
  for (const reason of ['abuse', 'manual'] as const) {
    await service.core.suppressions.addAll({ accountId: sender.accountId, emails: [person], reason })
    const page = await ask(leave(message))
    t.match(page.text, 'please contact the sender', reason)
    t.notMatch(page.text, 'again-all')
    await post(leave(message), 'do=again-all')
    t.strictSame(await reasons(), [reason])
    await service.core.suppressions.removeAll({ accountId: sender.accountId, emails: [person] })
  }
})

t.test('an entry that the sender made is back when the unsubscribe that replaced it is taken back', async (t) => {
  const person = `kept${++people}@harbor.example`
  const message = await readers.deliver([person])
  const entry = async () => {
    const [row] = await service.sql<{ reason: string; rule: string | null; since: Date }[]>`
      select reason, rule, since from suppressions where account_id = ${sender.accountId} and value = ${person}`
    return row
  }
  await service.core.suppressions.addAll({ accountId: sender.accountId, emails: [person], reason: 'manual' })
  const made = await entry()
  t.match(made, { reason: 'manual', rule: null })
  for (const time of ['first', 'second']) {
    await post(leave(message), 'List-Unsubscribe=One-Click')
    t.match(await entry(), { reason: 'unsubscribe', rule: 'unsubscribe' }, time)
    await post(leave(message), 'do=again-all')
    t.strictSame(await entry(), made)
  }
})

t.test('without groups, and without a message, it is the page of an unsubscribe link', async (t) => {
  const other = await service.makeSender()
  const chooser = await makeChooser(undefined, other)
  const page = await ask(chooser.page)
  t.match(page.text, '<input type="hidden" name="List-Unsubscribe" value="One-Click">')
  await post(chooser.page, 'List-Unsubscribe=One-Click')
  t.strictSame(await chooser.left(), [1], 'which is for the group of the link')
  const gone = pathOf('0197a0b1c2d37e4f8a9bacbdcedfe0f1', 'gone@harbor.example')
  t.equal((await ask(gone)).status, 200)
  t.equal((await post(gone, 'do=save&shown=1')).status, 410)
})

t.test(
  'names of groups are shown as they are, whatever they contain, and never as markup',
  skipWithoutThem,
  async (t) => {
    const chooser = await makeChooser([1])
    const plain = tagsOf(await ask(chooser.page))
    for (const text of naughtyStrings.filter((text) => !text.includes('\0'))) {
      await service.sql`
      update unsubscribe_groups set name = ${text}, description = ${text} where account_id = ${sender.accountId} and id = 1`
      const page = await ask(chooser.page)
      t.equal(tagsOf(page), text === '' ? plain - 2 : plain, text)
    }
    await service.sql`update unsubscribe_groups set name = 'News' where account_id = ${sender.accountId} and id = 1`
  },
)

t.test('of two hundred groups a hundred are shown, and their form fits', async (t) => {
  const many = await service.makeSender()
  await service.sql`
    insert into unsubscribe_groups (account_id, id, name, description)
    select ${many.accountId}, 2147483000 + n, 'Group ' || n, repeat('d', 100) from generate_series(1, 200) n`
  const chooser = await makeChooser(undefined, many)
  const page = await ask(chooser.page)
  const ids = boxesIn(page).map(([id]) => id)
  t.equal(ids.length, 100)
  t.equal((await chooser.save(ids, ids)).status, 200)
  t.equal((await chooser.save(ids, [])).status, 200)
  t.equal((await chooser.left()).length, 100)
})

const HELLO: readonly (readonly [header: string, language: string, words: string])[] = [
  ['', 'en', 'Unsubscribe'],
  ['xx, *;q=0.1', 'en', 'Unsubscribe'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de', 'Abmelden'],
  ['en;q=0.2, fr;q=0.9', 'fr', 'Se désabonner'],
  ['es-MX', 'es', 'Cancelar suscripción'],
  ['it', 'it', 'Annulla iscrizione'],
  ['pt-BR', 'pt', 'Cancelar inscrição'],
  ['nl', 'nl', 'Afmelden'],
  ['pl', 'pl', 'Anuluj subskrypcję'],
  ['ja', 'ja', '配信を停止する'],
  ['ar-EG, en;q=0.5', 'ar', 'إلغاء الاشتراك'],
  ['de;q=0, nl;q=0.001', 'nl', 'Afmelden'],
  ['de;q=2, de;q=x, nl;q=0.5', 'nl', 'Afmelden'],
  [`${'xx,'.repeat(3000)}de`, 'en', 'Unsubscribe'],
]

t.test('the page speaks the language that the browser prefers, or the one chosen from its menu', async (t) => {
  const message = await readers.deliver([`tongue${++people}@harbor.example`])
  for (const [header, language, words] of HELLO) {
    const page = await ask(leave(message), { headers: { 'user-agent': BROWSER, 'accept-language': header } })
    t.match(page.text, `<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`, header.slice(0, 40))
    t.match(page.text, `<h1>${words}</h1>`)
  }
  const chosen = await ask(`${leave(message)}?lang=ja`, { headers: { 'accept-language': 'de' } })
  t.match(chosen.text, '<html lang="ja"')
  for (const lang of ['xx', '"><script>', '__proto__', 'de&lang=fr']) {
    const page = await ask(`${leave(message)}?lang=${encodeURIComponent(lang)}`)
    t.match(page.text, '<html lang="en"', lang)
    t.notMatch(page.text, '<script')
  }
})
