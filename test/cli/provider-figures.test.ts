import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const service = await makeService(t)
const { env } = service
const folder = t.testdir()

function file(text: string): string {
  const path = join(folder, `${Math.random()}`)
  writeFileSync(path, text)
  return path
}
const figures = async (...args: string[]) =>
  (await answered<Record<string, string>[]>(env, 'provider', 'figures', ...args)).map(
    ({ provider, subject, day, name, value }) => [provider, subject, day, name, value],
  )
const stat = (metric: string, value: unknown, day = 30, domain = 'ship.example') => ({
  name: `domains/${domain}/domainStats/x1`,
  metric,
  value,
  date: { year: 2030, month: 1, day },
})
/** A refused file, and what is said; nothing of it is stored. */
async function refused(t: Test, service: string, text: string, said: RegExp): Promise<void> {
  const before = await figures()
  t.match(await postrider(env, 'provider', 'import', service, file(text)), { code: 1, stderr: said }, text.slice(0, 60))
  t.strictSame(await figures(), before)
}

t.test('figures of the API of Postmaster Tools are imported, once', async (t) => {
  const page = {
    domainStats: [
      stat('spam_rate', { doubleValue: 0.0012 }),
      stat('spam_rate', { doubleValue: 0 }, 29),
      stat('loops', { stringList: { values: ['a1', 'b2'] } }),
      stat('messages', { intValue: '812' }),
    ],
    nextPageToken: '',
  }
  const path = file(JSON.stringify(page, null, 2))
  for (const _ of [1, 2]) {
    const { stdout } = await postrider(env, 'provider', 'import', 'google', path)
    t.equal(stdout, '4 figures of google imported\n')
  }
  t.strictSame(await figures('google'), [
    ['google', 'ship.example', '2030-01-30', 'loops', 'a1, b2'],
    ['google', 'ship.example', '2030-01-30', 'messages', '812'],
    ['google', 'ship.example', '2030-01-30', 'spam_rate', '0.0012'],
    ['google', 'ship.example', '2030-01-29', 'spam_rate', '0'],
  ])
  const batch = { results: [{ response: { domainStats: [stat('spam_rate', { floatValue: 0.5 })] } }] }
  await answered(env, 'provider', 'import', 'google', file(JSON.stringify(batch)))
  t.match(await figures('google'), [{}, {}, ['google', 'ship.example', '2030-01-30', 'spam_rate', '0.5'], {}])
})

t.test('CSV of Postmaster Tools is imported for the domain that is given, or named in it', async (t) => {
  const path = file('\ufeffDate,"Spam rate, reported",Encryption\r\n2030-02-01,0.1%,\r\n2030/02/02,"0.2%",99.5%\r\n')
  t.match(await postrider(env, 'provider', 'import', 'google', path), { code: 1, stderr: /--domain: is needed/ })
  await answered(env, 'provider', 'import', 'google', path, '--domain', 'Lines.example')
  const named = file('domain,date,rate\nother.example,2030-02-03,1\n')
  await answered(env, 'provider', 'import', 'google', named)
  t.strictSame(
    (await figures('google')).filter(([, , day]) => String(day) >= '2030-02'),
    [
      ['google', 'other.example', '2030-02-03', 'rate', '1'],
      ['google', 'lines.example', '2030-02-02', 'Encryption', '99.5%'],
      ['google', 'lines.example', '2030-02-02', 'Spam rate, reported', '0.2%'],
      ['google', 'lines.example', '2030-02-01', 'Spam rate, reported', '0.1%'],
    ],
  )
})

const SNDS = (address: string, rate = '< 0.1%', result = 'GREEN') =>
  `${address},1/30/2030 1:00 AM,1/31/2030 1:00 AM,900,890,880,${result},${rate},1/30/2030 2:00 AM,1/30/2030 3:00 AM,2,mta-1.example,a@b.example,"busy, hour"`

t.test('data of SNDS is imported, without its samples', async (t) => {
  const heading =
    'IP Address,Activity start,Activity end,RCPT commands,DATA commands,Message recipients,Filter result,Complaint rate,x,y,z,h,m,c'
  const older = SNDS('192.0.2.8').replace(',1/30/2030 3:00 AM', '')
  await answered(env, 'provider', 'import', 'snds', file(`${heading}\n${SNDS('192.0.2.7')}\n\n${older}\n`))
  const stored = await figures('outlook')
  t.strictSame(
    stored.filter(([, subject]) => subject === '192.0.2.7'),
    [
      ['complaintRate', '< 0.1%'],
      ['dataCommands', '890'],
      ['filterResult', 'GREEN'],
      ['messageRecipients', '880'],
      ['rcptCommands', '900'],
      ['trapHits', '2'],
    ].map((figure) => ['outlook', '192.0.2.7', '2030-01-30', ...figure]),
  )
  t.match(
    stored.find(([, subject, , name]) => subject === '192.0.2.8' && name === 'trapHits'),
    { 4: '2' },
  )
  t.notMatch(JSON.stringify(stored), /b\.example/)
})

t.test('a file with a mistake changes nothing, and the line and reason are said', async (t) => {
  const good = SNDS('192.0.2.9')
  await refused(t, 'snds', `${good}\n${SNDS('192.0.2.256')}\n`, /line 2: "192\.0\.2\.256" is not an IP address/)
  await refused(t, 'snds', `${good}\n\n${good},more`, /line 3: must have 13 or 14 cells \(got 15\)/)
  await refused(t, 'snds', `${good}\n${SNDS('192.0.2.9', 'many')}`, /line 2: complaintRate must be a share/)
  await refused(t, 'snds', SNDS('192.0.2.9', '1%', 'BLUE'), /line 1: filterResult must be GREEN/)
  await refused(t, 'snds', good.replace('1/30/2030', '2/30/2030'), /line 1: its date does not exist/)
  await refused(t, 'snds', good.replace('1/30/2030', '30.1.2030'), /line 1: the begin of activity/)
  await refused(t, 'snds', `${good}\n"open`, /line 2: a quotation mark is not closed/)
  await refused(t, 'snds', `"a"b,c`, /line 1: text after the closing quotation mark/)
  await refused(t, 'snds', '', /line 1: no rows/)
  await refused(t, 'google', '{"domainStats": [\n  {,}\n]}', /line 2: not valid JSON/)
  await refused(t, 'google', '{"stats": []}', /must have the list domainStats/)
  const stats = (...entries: unknown[]) =>
    JSON.stringify({ domainStats: [stat('ok', { intValue: '1' }, 28), ...entries] })
  await refused(t, 'google', stats(null), /entry 2 of domainStats: must be an object/)
  await refused(t, 'google', stats(stat('a', {})), /entry 2 of domainStats: its value \{\} must have intValue/)
  await refused(t, 'google', stats(stat('a', { intValue: '1' }, 32)), /entry 2 of domainStats: its date does not exist/)
  await refused(
    t,
    'google',
    stats(stat('', { intValue: '1' })),
    /entry 2 of domainStats: the name "" must have 1 to 100/,
  )
  await refused(t, 'google', stats(stat('a\u0000', { intValue: '1' })), /the name .* printable/)
  await refused(
    t,
    'google',
    stats(stat('a', { intValue: '1' }, 1, 'no')),
    /entry 2 of domainStats: "no" is not a domain/,
  )
  await refused(t, 'google', 'Day,Rate\n', /line 1: the heading must have a column "Date"/)
  await refused(
    t,
    'google',
    'Domain,Date,Rate\na.example,2030-01-01\n',
    /line 2: must have 3 cells, as the heading has \(got 2\)/,
  )
  await refused(t, 'google', 'Domain,Date,Rate\na.example,1/2/2030,1\n', /line 2: the date "1\/2\/2030" must be like/)
})

t.test('files that are too large, and unknown services and providers, are refused', async (t) => {
  await refused(
    t,
    'snds',
    `${SNDS('192.0.2.9')}\n`.repeat(90_000).slice(0, 10 * 1024 * 1024 + 1),
    /at most 10485760 bytes/,
  )
  await refused(t, 'google', `Domain,Date,Rate\n${'a.example,2030-01-01,1\n'.repeat(100_001)}`, /at most 100000 rows/)
  const wide = `Domain,Date${',x'.repeat(90)}\n${`a.example,2030-01-01${',1'.repeat(90)}\n`.repeat(7000)}`
  await refused(t, 'google', wide, /at most 600000 figures/)
  t.match(await postrider(env, 'provider', 'import', 'yahoo', '/nowhere'), {
    code: 2,
    stderr: /must be google or snds/,
  })
  t.match(await postrider(env, 'provider', 'import', 'snds'), { code: 2, stderr: /missing argument: file/ })
  t.match(await postrider(env, 'provider', 'import', 'snds', folder), { code: 1, stderr: /must be a file/ })
  t.match(await postrider(env, 'provider', 'figures', 'nowhere'), { code: 1, stderr: /"nowhere" not found/ })
})

t.test('evidence has the figures of its period', async (t) => {
  const day = new Date(Date.now() - 2 * 86_400_000)
  const [year, month, date] = day.toISOString().slice(0, 10).split('-').map(Number)
  const recent = { ...stat('spam_rate', { doubleValue: 0.003 }), date: { year, month, day: date } }
  await answered(env, 'provider', 'import', 'google', file(JSON.stringify({ domainStats: [recent] })))
  const { figures } = await answered<{ figures: object[] }>(env, 'provider', 'evidence', 'google')
  t.match(figures.at(-1), { subject: 'ship.example', name: 'spam_rate', value: '0.003' })
  t.match((await postrider(env, 'provider', 'evidence', 'google')).stdout, /\| spam\\_rate \| 0\.003 \|/)
})

t.test('figures are deleted after 400 days', async (t) => {
  const row = (days: number) => service.sql`
    insert into provider_figures (provider, subject, day, name, value)
    values ('yahoo', 'ship.example', current_date - ${days}::int, 'rate', '1')`
  await row(399)
  await row(402)
  await service.core.cleanUp()
  t.equal((await figures('yahoo')).length, 1)
})
