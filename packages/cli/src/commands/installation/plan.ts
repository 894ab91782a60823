import { type Answer, type Call, type Command, requiredText, textOption, UsageError } from '../../command.ts'
import { type CapacityPlan, capacityPlan } from '../../plan.ts'
import { table } from '../../table.ts'

export const planCommands: readonly Command[] = [
  {
    name: 'plan',
    usage: '--per-day N --size BYTES [--peak N]',
    summary: 'Estimate the cores, processes, connections and disk for an amount of mail',
    detail:
      'Numbers may end with k, M or G (1,000, 1,000,000 …). Days are those of BODY_DAYS and EVENT_DAYS. docs/scaling.md explains the estimate',
    parameters: {
      'per-day': 'Messages per day, each to one recipient',
      size: 'Bytes of a message',
      peak: 'How many times the average the busiest minutes have (default: 5)',
    },
    examples: ['plan --per-day 10M --size 10k'],
    run,
  },
]

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9 }

async function run(call: Call): Promise<Answer> {
  const plan = capacityPlan({
    perDay: amount(requiredText(call, 'per-day'), 'per-day', 1e10),
    size: amount(requiredText(call, 'size'), 'size', 50e6),
    peak: amount(textOption(call, 'peak') ?? '5', 'peak', 1000),
    bodyDays: call.config.bodyDays,
    eventDays: call.config.eventDays,
  })
  return { data: plan, text: planText(plan, call.config) }
}

/** Throws {@link UsageError}. */
function amount(text: string, option: string, most: number): number {
  const [, digits = '', unit = ''] = /^(\d{1,11}(?:\.\d{1,3})?)([kMG]?)$/i.exec(text) ?? []
  const value = Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN)
  if (digits === '' || !(value >= 1 && value <= most))
    throw new UsageError(
      `--${option} must be a number from 1 to ${most}, such as 500, 10k or 2.5M (got "${text.slice(0, 40)}")`,
    )
  return value
}

const BOUNDS = {
  disk: 'The disk of the database is exhausted first: keep bodies for fewer days (BODY_DAYS), or use several installations.',
  database:
    'The processors of the database are exhausted first: use several installations, each with some of the accounts.',
} as const

function planText(plan: CapacityPlan, days: { readonly bodyDays: number; readonly eventDays: number }): string {
  const { perSecond, cores, processes, connections, disk, bound } = plan
  const rows = [
    ['messages in the busiest minutes', `${Math.ceil(perSecond)} per second`],
    ['cores for accepting', coresText(cores.accept)],
    ['cores for delivery', coresText(cores.delivery)],
    ['cores for the database', coresText(cores.database)],
    ['API processes', String(processes.api)],
    ['relay processes', String(processes.relay)],
    ['delivery processes', String(processes.delivery)],
    ['connections to the database', String(connections)],
    [`disk: bodies of ${days.bodyDays} days`, sizeText(disk.bodies)],
    [`disk: rows of ${days.eventDays} days`, sizeText(disk.rows)],
    ['disk: written per day', `${sizeText(disk.daily)}, and ${sizeText(disk.wal)} of write-ahead log`],
  ]
  const end = bound ? BOUNDS[bound] : 'One database server is enough.'
  return `${table(['need', 'estimate'], rows)}\n${end} Two hosts for the processes and a standby of the database survive the loss of any host.`
}

function coresText(busy: number): string {
  return busy < 0.1 ? 'below 0.1' : busy.toFixed(1)
}

function sizeText(bytes: number): string {
  return bytes >= 1e12 ? `${(bytes / 1e12).toFixed(1)} TB` : `${(bytes / 1e9).toFixed(bytes < 1e10 ? 1 : 0)} GB`
}
