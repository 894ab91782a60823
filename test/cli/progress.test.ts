import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { runCommand } from '../../packages/cli/src/command-line.ts'
import { acceptMessage } from '../core/submission.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { makeService } from '../helpers/service.ts'

const service = await makeService(t)
const { core, env } = service
const sender = await service.makeSender()
const id = String(sender.accountId)
const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'progress-'))
const [list, copy, events] = ['list.csv', 'copy.csv', 'events.ndjson'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
]
writeFileSync(list, 'email,reason\nlena@harbor.example,hardbounce\nnils@harbor.example,hardbounce\n')
await acceptMessage(service, sender)
await numberEvents(service)
await core.reputation.hold({ accountId: sender.accountId, reason: 'under review' })
await service.sql`update delivery_queue set place = 'account:held'`

/** What the command draws on stderr. */
async function drawn(args: readonly string[], isTTY: boolean): Promise<string> {
  let text = ''
  const output = (into: boolean) => ({
    isTTY: into && isTTY,
    write: (piece: string | Uint8Array) => {
      if (into) text += String(piece)
      return true
    },
  })
  t.equal(await runCommand([...args], { ...process.env, ...env }, { stdout: output(false), stderr: output(true) }), 0)
  return text
}

/** Calls whose time grows with what is stored. */
const LONG: readonly (readonly string[])[] = [
  ['suppression', 'import', list, '--account', id],
  ['suppression', 'export', '--account', id, '--out', copy],
  ['suppression', 'remove', '--account', id, '--all', '--reason', 'hardbounce', '--yes'],
  ['stats', 'recount', '--account', id],
  ['export', 'events', '--account', id, '--from', '2020-01-01', '--out', events],
  ['account', 'release', id, '--purge', '--yes'],
]

for (const args of LONG) {
  t.test(`${args.slice(0, 2).join(' ')} shows on a terminal how far it is`, async (t) => {
    t.match(await drawn(args, true), /\r\x1b\[K\w+ +\d+\n$/)
  })
}

t.test('nothing is shown with --json or in a file', async (t) => {
  const recount = ['stats', 'recount', '--account', id]
  t.equal(await drawn([...recount, '--json'], true), '')
  t.equal(await drawn(recount, false), '')
})
