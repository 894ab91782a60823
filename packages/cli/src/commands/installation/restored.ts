import { listWorkers, markRestored, readRestore, type Sql } from '@postrider/core'
import { type Answer, type Call, type Command, CommandError, timeOption } from '../../command.ts'
import { withUnreadyDatabase } from '../../installation.ts'

export const restoredCommands: readonly Command[] = [
  {
    name: 'restored',
    usage: '[--to TIME]',
    summary: 'Hold the mail in the queue of a database that was restored without "postrider restore"',
    detail:
      'For pgBackRest, WAL-G, dumps and snapshots of disks; to be run before delivery processes work. Mail that is in the queue is ' +
      'held until "postrider queue release", since it may have been delivered after the moment. A new epoch of event numbers begins',
    parameters: {
      to: 'ISO 8601 time of the state that was restored (default: what Postgres says, once after each restore to a moment)',
    },
    examples: ['restored', 'restored --to 2026-11-24T08:00:00Z'],
    run: runRestored,
  },
]

const NO_RESTORE =
  'no restore is left to be marked: the recovery targets of Postgres are not set, or are those of the last restore. After a ' +
  'restore without one, or of a dump or snapshot, name the moment of its state with --to'
const NO_TIME = 'Postgres does not say to which time it was restored; name it with --to'

function runRestored(call: Call): Promise<Answer> {
  const { config, env } = call
  const to = timeOption(call, 'to')
  return withUnreadyDatabase(config, env.DATABASE_URL || undefined, async (sql) => {
    const restoredTo = to ?? (await timeOfRestore(sql))
    await requireNoWorkers(sql)
    const { held, epoch } = await markRestored(sql, restoredTo)
    return {
      data: { restoredTo: restoredTo.toISOString(), held, epoch },
      text: [
        `marked as restored to ${restoredTo.toISOString()}`,
        `held in the queue: ${held}, of which some may have been delivered after that; "postrider queue release" delivers them`,
        `event numbers continue in epoch ${epoch}`,
      ].join('\n'),
    }
  })
}

async function timeOfRestore(sql: Sql): Promise<Date> {
  const { marked, restoredTo } = await readRestore(sql)
  if (marked) throw new CommandError(NO_RESTORE)
  if (restoredTo === null) throw new CommandError(NO_TIME)
  return restoredTo
}

/** Deliveries in flight would be sent, and then be held. */
async function requireNoWorkers(sql: Sql): Promise<void> {
  const working = (await listWorkers(sql)).filter(({ alive }) => alive)
  if (working.length === 0) return
  const listed = working.map(({ host, pid }) => `${host} (pid ${pid})`)
  throw new CommandError(`delivery processes work on this database: ${listed.join(', ')}; stop them first`)
}
