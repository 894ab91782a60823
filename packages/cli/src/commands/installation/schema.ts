import { type OlderProgram, type PlannedMigration, planUpgrade, type UpgradePlan } from '@postrider/core'
import { type Answer, type Call, type Command, CommandError, UsageError } from '../../command.ts'
import { openExamined } from '../../doctor/open-database.ts'
import { progressOn, SILENT } from '../../importing/progress.ts'
import { table } from '../../table.ts'

export const schemaCommands: readonly Command[] = [
  {
    name: 'migrate',
    usage: '',
    summary: 'Migrate the database schema to this version',
    creates: true,
    migrates: true,
    run: runMigrate,
  },
  {
    name: 'upgrade',
    usage: '--check',
    summary: 'Show what this version would change in the database; changes nothing',
    detail: 'Shows each migration, the tables it uses, how long it takes, and what waits for older processes',
    parameters: { check: 'Show it' },
    examples: ['upgrade --check'],
    run: runUpgrade,
  },
]

/** Also applies the migrations that otherwise a worker applies while processes work. */
async function runMigrate(call: Call): Promise<Answer> {
  const progress = call.stderr.isTTY && !call.options.json ? progressOn(call.stderr) : SILENT
  return call.withCore(async ({ schema }) => {
    const { waiting, busy } = await schema.applyLater({
      report: (name, rows, estimate) => progress.show(name, rows, Math.max(rows, Math.round(estimate))),
    })
    progress.end()
    if (busy) return { data: { migrated: true, busy }, text: 'a delivery process is applying the remaining migrations' }
    const text = waiting ? waitText(waiting.name, waiting.for) : 'the schema is up to date'
    return { data: { migrated: true, ...(waiting ? { waiting } : {}) }, text }
  })
}

async function runUpgrade({ config, env, options }: Call): Promise<Answer> {
  if (!options.check) throw new UsageError('--check is missing; to upgrade, see docs/upgrading.md')
  const database = await openExamined(config, env)
  try {
    if (!database.sql) throw new CommandError(`${database.connection.detail}; ${database.connection.fix ?? ''}`)
    const plan = await planUpgrade(database.sql)
    return { data: plan, text: planText(plan) }
  } finally {
    await database.close()
  }
}

const WHEN: Record<PlannedMigration['kind'], string> = {
  expand: 'before this version starts',
  backfill: 'in steps, while it works',
  index: 'concurrently, while it works',
  contract: 'when no older process runs',
}

function planText({ migrations, unknown, isEmpty }: UpgradePlan): string {
  if (isEmpty) return 'The database is empty, so there is nothing to upgrade: run postrider migrate.'
  if (unknown.length > 0)
    return `A newer version has used this database: this one does not know ${unknown.join(', ')}. See "To go back" in docs/upgrading.md.`
  if (migrations.length === 0) return 'This version changes nothing in the database.'
  const rows = migrations.map(({ name, kind, tables, seconds }) => [
    name,
    WHEN[kind],
    tables.map((one) => `${one.name} (${Math.round(one.rows)} rows)`).join(', '),
    seconds === 0 ? 'at once' : `about ${seconds} s`,
  ])
  const waits = migrations.filter(({ waitsFor }) => waitsFor.length > 0).map((one) => waitText(one.name, one.waitsFor))
  return [table(['migration', 'applied', 'tables', 'takes'], rows), ...waits].join('\n')
}

function waitText(name: string, programs: readonly OlderProgram[]): string {
  const listed = programs.map(
    ({ program, address, version }) => `${program} on ${address ?? 'the database host'} (version ${version})`,
  )
  return `sql/${name} waits until these older processes are replaced: ${listed.join(', ')}`
}
