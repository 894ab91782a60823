import type { Core, Event } from '@postrider/core'
import { type Answer, type Command, CommandError, printable, requiredId, table, wholeOption } from '../command.ts'

/** Events read in one go. */
const LIMIT = 1000
/** Milliseconds between looks at whether there is more, beside being told. */
const WAIT = 25_000

export const eventCommands: readonly Command[] = [
  {
    name: 'events',
    usage: '--account ID [--after N] [--follow]',
    summary: `show what happened, behind a number, the first ${LIMIT}; --follow: all of it, and what comes`,
    options: { account: { type: 'string' }, after: { type: 'string' }, follow: { type: 'boolean' } },
    run: (call) => {
      const accountId = requiredId(call, 'account')
      const after = wholeOption(call, 'after') ?? 0
      return call.withCore(async (core) => {
        if (!(await core.accounts.list()).some(({ id }) => id === accountId)) {
          throw new CommandError(`there is no account ${accountId}: "account list" shows all`)
        }
        if (call.options.follow) return follow(core, { accountId, after, json: Boolean(call.options.json) })
        const { events, oldest } = await core.events.feed({ accountId, after, limit: LIMIT, ...AT_ONCE })
        return shown(events, after, oldest)
      })
    },
  },
]

const AT_ONCE = { milliseconds: 0, signal: new AbortController().signal }

function shown(events: readonly Event[], after: number, oldest: number): Answer {
  const gone = oldest > after + 1 ? `events ${after + 1} to ${oldest - 1} are no longer kept\n` : ''
  return { data: events, text: `${gone}${table(['number', 'time', 'what', 'recipient', 'detail'], events.map(row))}` }
}

function row({ number, occurredAt, type, delivery, detail }: Event): unknown[] {
  return [
    number,
    occurredAt,
    type,
    delivery?.recipient ?? '',
    Object.keys(detail).length > 0 ? JSON.stringify(detail) : '',
  ]
}

/** A line an event, until the process is ended or nobody reads any more. */
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
      process.stderr.write(`postrider: events ${next + 1} to ${page.oldest - 1} are no longer kept\n`)
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
