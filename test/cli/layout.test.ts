import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { runCommand } from '../../packages/cli/src/command-line.ts'
import { detailText } from '../../packages/cli/src/commands/detail-text.ts'
import { layOut, table } from '../../packages/cli/src/table.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { makeService } from '../helpers/service.ts'
import { postrider } from './postrider.ts'

const service = await makeService(t)
const { env } = service
const { accountId } = await service.makeSender()
const NAME = 'Harbor Shipping and Forwarding of the Northern and the Southern Sea'
const created = await service.core.accounts.create(NAME)
await service.core.accounts.expire(created.id, new Date('2020-01-31T12:00:00Z'))

/** The output of a command on a terminal of some width. */
async function onTerminal(columns: number, args: string[], set: Record<string, string> = {}): Promise<string> {
  const pieces: string[] = []
  const stdout = { isTTY: true, columns, write: (text: string | Uint8Array) => pieces.push(String(text)) > 0 }
  const stderr = { isTTY: false, write: () => true }
  await runCommand(args, { ...env, ...set }, { stdout, stderr })
  return pieces.join('')
}

function widest(text: string): number {
  return Math.max(
    ...stripVTControlCharacters(text)
      .split('\n')
      .map((line) => line.length),
  )
}

t.test('a table fits the terminal: times lose their seconds first, then texts are cut', async (t) => {
  const wide = stripVTControlCharacters(await onTerminal(200, ['account', 'list']))
  t.equal(wide, (await postrider(env, 'account', 'list')).stdout, 'a wide terminal shows what a pipe gets')
  t.match(wide, `${NAME}  expired  2020-01-31T12:00:00.000Z\n`)
  const shorter = await onTerminal(105, ['account', 'list'])
  t.match(stripVTControlCharacters(shorter), `${NAME}  expired  2020-01-31T12:00Z\n`)
  const narrow = await onTerminal(70, ['account', 'list'])
  t.match(stripVTControlCharacters(narrow), /Harbor Shipping [\w ]+… +expired +2020-01-31T12:00Z\n/)
  for (const [columns, text] of [
    [105, shorter],
    [70, narrow],
  ] as const)
    t.ok(widest(text) <= columns, `${columns}`)
})

t.test('a table that is still too wide has a block of lines per row, with nothing cut', async (t) => {
  const text = stripVTControlCharacters(await onTerminal(40, ['account', 'list']))
  t.match(text, `id       ${created.id}\nname     ${NAME}\nstate    expired\nexpires  2020-01-31T12:00:00.000Z\n`)
})

t.test('values of DNS records are never cut', async (t) => {
  const [domain] = await service.core.domains.list(accountId)
  const shown = await service.core.domains.show(domain?.name ?? '', accountId)
  const text = stripVTControlCharacters(await onTerminal(80, ['domain', 'dns', shown.name]))
  for (const { value } of shown.dns) t.ok(text.includes(value), value)
})

t.test('colours are only on terminals, and never with NO_COLOR', async (t) => {
  const args = ['account', 'list']
  t.match(await onTerminal(80, args), '\x1b[33mexpired\x1b[39m')
  t.match(await onTerminal(80, ['--help']), '\x1b[1mService:')
  for (const text of [
    await onTerminal(80, args, { NO_COLOR: '1' }),
    await onTerminal(80, ['--help'], { NO_COLOR: '1' }),
    await onTerminal(80, args, { TERM: 'dumb' }),
    (await postrider(env, ...args)).stdout,
    await onTerminal(80, [...args, '--json']),
  ]) {
    t.notMatch(text, '\x1b')
  }
})

t.test('a text cannot pass for a part of the table', async (t) => {
  const text = layOut(table(['name', 'state'], [['a\x1fb\x1ec\x1b[31m\nd', 'active']]), { hasColours: false })
  t.equal(text, `name${' '.repeat(10)}state\na\ufffdb\ufffdc\ufffd[31m d  active`)
})

t.test('a row of messages is one line of 80 characters with its subject, and numbers end together', async (t) => {
  const subject = 'Your berth 4 at the northern pier is ready for the whole of next week'
  const { messageId } = await acceptMessage(service, await service.makeSender(), {
    envelopes: ['a-long-local-part@harbor.example', 'b@harbor.example'].map((to) => envelopeTo(to)),
    subject,
  })
  const [head = '', ...rows] = stripVTControlCharacters(await onTerminal(80, ['message', 'list']))
    .trim()
    .split('\n')
  t.match(head, /^message +state +recipient +subject$/)
  t.equal(rows.length, 2)
  for (const row of rows) {
    t.ok(row.length <= 80, `${row.length} characters`)
    t.match(row, new RegExp(`^${messageId.replaceAll('-', '')}  queued  .*  Your berth 4 `))
  }
  const numbers = layOut(
    table(
      ['name', 'count', 'share'],
      [
        ['a', 7, '0.5 %'],
        ['b', 1234, '12 %'],
      ],
    ),
    { hasColours: false },
  )
  t.equal(numbers, 'name  count  share\na         7  0.5 %\nb      1234   12 %')
})

t.test('fields of an event are words, and JSON only with --json', async (t) => {
  t.equal(
    detailText({
      tls: 'TLSv1.3',
      code: 250,
      oneClick: true,
      machine: false,
      reply: null,
      before: { time_zone: 'UTC' },
      tags: ['a', 'b'],
    }),
    'tls TLSv1.3, code 250, one click, no machine, before (time zone UTC), tags a b',
  )
})
