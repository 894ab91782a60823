import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Case, Context } from '../harness/context.ts'
import { expectCount } from '../harness/expect-count.ts'
import { smtpSource } from '../harness/load.ts'
import { run, until } from '../harness/processes.ts'
import { alternate, type Finding, median, quantile, type Round, ratioOf } from '../harness/rounds.ts'
import { startSmtpSink } from '../harness/sink.ts'
import { smtpClients } from './latency.ts'

const SESSIONS = 15
const OCTETS = 4096
/** Reports of a round. */
const REPORTS = { quick: 1000, whole: 3000 } as const
const UNKNOWN_A_SECOND = 2000

interface Answers {
  readonly seconds: number
  readonly answers: number
  readonly waits: readonly number[]
}

/** Bounce reports that come back by SMTP, each with its effect; and the accept of mail beside recipients that do not exist. */
export const returns: Case = {
  name: 'returns',
  long: true,
  run: async (context) => [...(await reports(context)), await besideFlood(context)],
}

async function reports({ service, rounds, quick, report }: Context): Promise<Finding[]> {
  const title = 'bounce reports of 4 kB, durable and with their effect'
  report(title)
  const many = quick ? REPORTS.quick : REPORTS.whole
  const paths = await deliver(service, many * rounds)
  const file = join(tmpdir(), `postrider-returns-${process.pid}.json`)
  const waits: number[] = []
  await service.start('returns')
  try {
    const found = await alternate(
      {
        postrider: async () => {
          writeFileSync(file, JSON.stringify(paths.splice(0, many)))
          const before = await bounced(service)
          const {
            seconds,
            answers,
            waits: own,
          } = await returnClients({
            port: service.returnsPort,
            sessions: SESSIONS,
            recipients: file,
            octets: OCTETS,
          })
          // Nothing is waited for: 250 says that the effect is committed.
          expectCount('bounces recorded', (await bounced(service)) - before, answers)
          waits.push(...own)
          return answers / seconds
        },
      },
      rounds,
      report,
    )
    return [
      { title, unit: 'reports/s', rounds: found, target: { sense: 'at least', value: 150 } },
      { title: 'the same, p99 of the 250', unit: 'ms', rounds: { postrider: [quantile(waits, 0.99)] } },
    ]
  } finally {
    rmSync(file, { force: true })
    await service.stop('returns')
    await service.empty()
  }
}

/** Accepts mail and delivers it, afterwards to a recipient each, as smtp-source has one for all; returns the return paths. */
async function deliver(service: Context['service'], many: number): Promise<string[]> {
  const sink = await startSmtpSink()
  await service.start('relay')
  await service.start('delivery', { sinkPort: sink.port })
  try {
    const load = { from: `desk@${service.domain}`, port: service.relayPort, sessions: 50, octets: 1000, kept: true }
    await smtpSource(load, many)
    await until('all to be delivered', async () => (await service.delivered()) === many)
  } finally {
    await service.stop('relay')
    await service.stop('delivery')
    await sink.stop()
  }
  const rows = await service.sql<{ id: string }[]>`
    update finished_deliveries set recipient_key = 'r' || message_id || '@harbor.example'
    returning replace(message_id::text, '-', '') as id`
  return rows.map(({ id }) => {
    return `${service.core.deliveries.returnPath({ messageId: id, recipientNo: 0 }, Date.now())}@bench.test`
  })
}

async function bounced({ sql }: Context['service']): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from events where type = 'bounced'`
  return row?.count ?? 0
}

async function returnClients(order: Readonly<Record<string, unknown>>): Promise<Answers> {
  return JSON.parse(await run(process.execPath, ['bench/load/return-clients.ts', JSON.stringify(order)])) as Answers
}

async function besideFlood({ service, rounds, seconds, report }: Context): Promise<Finding> {
  const title = `p99 of the 250 of the relay, beside ${UNKNOWN_A_SECOND} return paths a second that do not exist`
  report(title)
  await service.start('relay')
  await service.start('returns')
  const from = `desk@${service.domain}`
  const order = { from, port: service.relayPort, octets: 10_000, sessions: 10, messages: 1_000_000, seconds, pause: 20 }
  const accept: Round = async () => {
    const { waits } = await smtpClients(order)
    await service.empty()
    return quantile(waits, 0.99)
  }
  try {
    await accept()
    const found = await alternate(
      {
        'beside the flood': async () => {
          const unknown = Math.round(UNKNOWN_A_SECOND * (seconds + 2))
          const flood = returnClients({ port: service.returnsPort, sessions: 10, unknown, perSecond: UNKNOWN_A_SECOND })
          const p99 = await accept()
          const { answers, seconds: took } = await flood
          report(`    ${answers} refused in ${took.toFixed(1)} s`)
          return p99
        },
        alone: accept,
      },
      rounds,
      report,
    )
    const [row] = await service.sql<{ count: number }[]>`select count(*)::int as count from returns`
    expectCount('returns stored', row?.count ?? 0, 0)
    report(`  ${median(found.alone ?? [])} ms alone`)
    const ratio = ratioOf(found)
    return { title, unit: 'ms', rounds: found, target: { sense: 'at most', value: 1.2 }, ...(ratio && { ratio }) }
  } finally {
    await service.stop('relay')
    await service.stop('returns')
  }
}
