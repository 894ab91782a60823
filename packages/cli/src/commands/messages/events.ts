import type { Core, Event } from '@postrider/core'
import type { Answer, Command } from '../../command.ts'
import { printable, table } from '../../table.ts'
import { requireAccount } from '../account-option.ts'
import { coreCommand } from '../core-command.ts'
import { detailText } from '../detail-text.ts'

/** Events per read. */
const LIMIT = 1000
/** Milliseconds until the database is queried again if no notification of a new event came. */
const WAIT = 25_000

export const eventCommands: readonly Command[] = [
  coreCommand({
    name: 'events',
    usage: '--account ID [--after N] [--follow]',
    summary: 'List events of an account, at most 1000',
    parameters: {
      after: 'Only events after this sequence number (default 0)',
      follow: 'List all, and wait for new events',
    },
    examples: ['events --account 12 --follow --json'],
    run: async (core, { account: accountId, after = 0, follow: follows }, call) => {
      await requireAccount(core, accountId)
      if (follows) return follow(core, { accountId, after, json: Boolean(call.options.json) })
      const { events, oldest } = await core.events.feed({ accountId, after, limit: LIMIT, ...AT_ONCE })
      return shown(events, after, oldest)
    },
  }),
]

const AT_ONCE = { milliseconds: 0, signal: new AbortController().signal }

function shown(events: readonly Event[], after: number, oldest: number): Answer {
  const gone = oldest > after + 1 ? `events ${after + 1} to ${oldest - 1} have been deleted\n` : ''
  return { data: events, text: `${gone}${table(['number', 'time', 'event', 'recipient', 'detail'], events.map(row))}` }
}

function row({ number, occurredAt, type, delivery, detail }: Event): unknown[] {
  return [number, occurredAt, type, delivery?.recipient ?? '', detailText(detail)]
}

/** Prints one line per event until the process is stopped or stdout is closed. */
async function follow(
  core: Core,
  { accountId, after, json }: { accountId: number; after: number; json: boolean },
): Promise<undefined> {
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())
  process.stdout.once('error', () => ended.abort())
  const { signal } = ended
  for (let next = after; !signal.aborted; ) {
    const page = await core.events.feed({ accountId, after: next, limit: LIMIT, milliseconds: WAIT, signal })
    if (page.oldest > next + 1 && page.next > next) {
      process.stderr.write(`postrider: events ${next + 1} to ${page.oldest - 1} have been deleted\n`)
    }
    for (const event of page.events) process.stdout.write(`${json ? JSON.stringify(event) : line(event)}\n`)
    next = page.next
  }
  return undefined
}

function line(event: Event): string {
  const cells = row(event).map((cell) => (cell instanceof Date ? cell.toISOString() : String(cell)))
  return printable(cells.join('  ').trimEnd()).replace(/[\t\n]/g, ' ')
}
