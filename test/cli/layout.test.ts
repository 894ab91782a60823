import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { runCommand } from '../../packages/cli/src/command-line.ts'
import { layOut, table } from '../../packages/cli/src/table.ts'
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
