import { type Core, createCore, createLog, findSecrets, type Sql, secretAgrees } from '@postrider/core'
import { type Answer, type Call, type Command, textOption, UsageError } from '../../command.ts'
import { certificateChecks } from '../../doctor/certificate-checks.ts'
import type { Check } from '../../doctor/check.ts'
import { type CheckResult, counted, NotChecked } from '../../doctor/check-result.ts'
import { databaseChecks } from '../../doctor/database-checks.ts'
import { type Examination, examine } from '../../doctor/examine.ts'
import { loadChecks } from '../../doctor/load-checks.ts'
import { networkChecks } from '../../doctor/network-checks.ts'
import { openExamined } from '../../doctor/open-database.ts'
import { WELL_KNOWN } from '../../doctor/outbound-check.ts'
import { processChecks } from '../../doctor/process-checks.ts'
import { createReadings, type Readings } from '../../doctor/readings.ts'
import { replicationChecks } from '../../doctor/replication-checks.ts'
import { reportOf, reportText } from '../../doctor/report.ts'
import { sendChecks } from '../../doctor/send-checks.ts'
import { serviceChecks } from '../../doctor/service-checks.ts'
import { settingsChecks } from '../../doctor/settings-checks.ts'
import { withTestSender } from '../../doctor/test-sender.ts'
import { progressOn, SILENT } from '../../importing/progress.ts'

const CHECKS: readonly Check[] = [
  ...settingsChecks,
  ...databaseChecks,
  ...loadChecks,
  ...replicationChecks,
  ...processChecks,
  ...serviceChecks,
  ...networkChecks,
  ...certificateChecks,
]

export const doctorCommands: readonly Command[] = [
  {
    name: 'doctor',
    usage: '[--send ADDRESS [--from ADDRESS]] [--offline]',
    summary: 'Check this installation, and show what corrects each fault',
    detail: 'Settings, database, processes, network and domains are checked. The exit status is 1 if a check is bad',
    parameters: {
      send: 'Also send one message to this address by each of v2, v3 and SMTP',
      from: 'Sender of these messages (default: postmaster@ the oldest active domain)',
      offline: 'Open no connection to a mail server of others, by which port 25 is tried with DELIVERY=mx',
    },
    examples: ['doctor --send you@example.com'],
    checksSettings: true,
    run: runDoctor,
  },
]

async function runDoctor(call: Call): Promise<Answer> {
  const { config, env, stderr } = call
  const recipient = addressOption(call, 'send')
  const from = addressOption(call, 'from')
  if (from !== undefined && recipient === undefined) throw new UsageError('--from is only for --send')
  const offline = call.options.offline === true
  if (config.delivery.kind === 'mx' && recipient === undefined && !offline)
    stderr.write(
      `Port ${config.mxPort} is tried with one connection to a mail server of ${WELL_KNOWN} (not with --offline).\n`,
    )
  const progress = stderr.isTTY && !call.options.json ? progressOn(stderr) : SILENT
  const database = await openExamined(config, env)
  try {
    const readings = createReadings({ config, env, recipient, offline, sql: database.sql })
    let done = 0
    const first = await examine([connectionCheck(database.connection), ...CHECKS], readings, () =>
      progress.show('Checks', ++done, CHECKS.length + 1),
    )
    progress.end()
    const sent = recipient === undefined ? NOTHING : await sendAll(recipient, { readings, from, progress })
    const report = reportOf({
      checks: [...first.checks, ...sent.checks],
      notChecked: [...first.notChecked, ...sent.notChecked],
    })
    const { bad } = report.counts
    const failure = bad === 0 ? {} : { failure: `${bad} of ${counted(report.checks.length, 'check')} found a fault` }
    return { data: report, text: reportText(report, call.columns), ...failure }
  } finally {
    await database.close()
  }
}

const NOTHING: Examination = { checks: [], notChecked: [] }

function connectionCheck(result: CheckResult): Check {
  return { area: 'database', name: 'connection', run: async () => result }
}

/** Throws {@link UsageError}. */
function addressOption(call: Call, name: string): string | undefined {
  const text = textOption(call, name)
  if (text !== undefined && !/^[^\s<>@\p{Cc}]+@[^\s<>@\p{Cc}]+$/u.test(text))
    throw new UsageError(`--${name} must be an email address (got "${text}")`)
  return text
}

interface SendOptions {
  readonly readings: Readings
  readonly from: string | undefined
  readonly progress: ReturnType<typeof progressOn>
}

/** After the other checks, so that they do not add to the times. */
async function sendAll(recipient: string, { readings, from, progress }: SendOptions): Promise<Examination> {
  try {
    return await withDoctorCore(readings, (core) =>
      withTestSender(core, { readings, from }, async (sender) => {
        const checks = sendChecks(sender, recipient)
        let done = 0
        progress.show('Messages', done, checks.length)
        const sent = await examine(checks, readings, () => progress.show('Messages', ++done, checks.length))
        progress.end()
        return sent
      }),
    )
  } catch (error) {
    const { message } = error as Error
    const check = { area: 'mail', name: 'messages' } as const
    return error instanceof NotChecked
      ? { checks: [], notChecked: [{ ...check, reason: message }] }
      : {
          checks: [{ ...check, status: 'bad', detail: message, fix: 'correct it, or name a sender with --from' }],
          notChecked: [],
        }
  }
}

/** Throws {@link NotChecked} unless the database belongs to this installation: with another key, its accounts are unusable. */
async function withDoctorCore<T>({ config, sql, schema }: Readings, act: (core: Core) => Promise<T>): Promise<T> {
  const pool = sql()
  await requireUsable(pool, config, (await schema()).pending)
  const core = createCore({ sql: pool, config, log: createLog('command', 'silent') })
  try {
    // It also learns which key is in use.
    await core.readiness.check()
    return await act(core)
  } finally {
    core.readiness.close()
  }
}

async function requireUsable(sql: Sql, config: Call['config'], pending: readonly string[]): Promise<void> {
  if (pending.length > 0) throw new NotChecked('migrations are pending')
  const secrets = findSecrets(config)
  const agrees = secrets && (await secretAgrees(sql, secrets))
  if (!agrees) throw new NotChecked('the secret key does not agree with the database')
}
