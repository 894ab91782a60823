import { parseArgs } from 'node:util'
import { ConfigError, EXIT_CONFIG, misspeltSettings, misspeltText, readConfig, ServiceError } from '@postrider/core'
import {
  type Answer,
  type Command,
  CommandError,
  type Output,
  printable,
  TemporaryError,
  UsageError,
} from './command.ts'
import { accountCommands } from './commands/account.ts'
import { accountStandingCommands } from './commands/account-standing.ts'
import { auditCommands } from './commands/audit.ts'
import { certificateCommands } from './commands/certificate.ts'
import { contentCommands } from './commands/content.ts'
import { creditsCommands } from './commands/credits.ts'
import { dmarcCommands } from './commands/dmarc.ts'
import { dnsCommands } from './commands/dns.ts'
import { doctorCommands } from './commands/doctor.ts'
import { domainCommands } from './commands/domain.ts'
import { eventCommands } from './commands/events.ts'
import { importCommands } from './commands/import.ts'
import { inboxCommands } from './commands/inbox.ts'
import { keyCommands } from './commands/key.ts'
import { messageCommands } from './commands/message.ts'
import { operateCommands } from './commands/operate.ts'
import { poolCommands } from './commands/pool.ts'
import { providerCommands } from './commands/provider.ts'
import { evidenceCommands } from './commands/provider-evidence.ts'
import { providerFigureCommands } from './commands/provider-figures.ts'
import { queueCommands } from './commands/queue.ts'
import { returnCommands } from './commands/returns.ts'
import { schemaCommands } from './commands/schema.ts'
import { smartHostCommands } from './commands/smart-host.ts'
import { sourceCommands } from './commands/source.ts'
import { statsCommands } from './commands/stats.ts'
import { suppressionCommands } from './commands/suppression.ts'
import { tlsCommands } from './commands/tls.ts'
import { tlsReportCommands } from './commands/tls-reports.ts'
import { upCommands } from './commands/up.ts'
import { userCommands } from './commands/user.ts'
import { requireInstallation, withInstallation } from './installation.ts'

const COMMANDS: readonly Command[] = [
  ...upCommands,
  ...schemaCommands,
  ...operateCommands,
  ...doctorCommands,
  ...certificateCommands,
  ...accountCommands,
  ...accountStandingCommands,
  ...userCommands,
  ...creditsCommands,
  ...keyCommands,
  ...domainCommands,
  ...dnsCommands,
  ...contentCommands,
  ...suppressionCommands,
  ...returnCommands,
  ...dmarcCommands,
  ...tlsReportCommands,
  ...importCommands,
  ...messageCommands,
  ...providerCommands,
  ...evidenceCommands,
  ...providerFigureCommands,
  ...queueCommands,
  ...sourceCommands,
  ...poolCommands,
  ...smartHostCommands,
  ...tlsCommands,
  ...statsCommands,
  ...auditCommands,
  ...eventCommands,
  ...inboxCommands,
]

/** Column of the summaries in the help; after a longer call the summary starts on the next line. */
const HELP_COLUMN = 40

const GLOBAL = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const

/** The output streams of a command; `process` has them. */
export interface Streams {
  readonly stdout: Output
  readonly stderr: Output
}

/** EX_TEMPFAIL of sysexits.h. */
const EXIT_TEMPORARY = 75

/**
 * Runs the command in `args`, the arguments after `postrider`. Resolves with the exit status: 0 success, 1 rejected or failed, 2 usage
 * error, 75 to be tried again, 78 invalid setting.
 */
export async function runCommand(args: string[], env: NodeJS.ProcessEnv, streams: Streams): Promise<number> {
  const json = args.includes('--json')
  const command = findCommand(args)
  if (!command) return help(args, { json, streams })
  try {
    const { values, positionals } = parse(command, args)
    if (values.help) {
      streams.stdout.write(`postrider ${command.name} ${command.usage}\n  ${command.summary}\n`)
      return 0
    }
    const words = positionals.slice(command.name.split(' ').length)
    const surplus = words[command.words ?? 0]
    if (surplus !== undefined) throw new UsageError(`unexpected argument "${surplus}"`)
    for (const one of misspeltSettings(env)) streams.stderr.write(`postrider: ${misspeltText(one)}\n`)
    const config = readConfig(env)
    const answer = await command.run({
      options: values,
      words,
      config,
      env,
      stderr: streams.stderr,
      columns: streams.stdout.isTTY ? streams.stdout.columns : undefined,
      withCore: (act) => {
        if (!env.DATABASE_URL && !command.creates) requireInstallation(config)
        return withInstallation(
          command.migrates ? { ...config, migrate: 'auto' } : config,
          env.DATABASE_URL || undefined,
          act,
        )
      },
    })
    if (answer) print(answer, { json, streams })
    if (answer?.failure === undefined) return 0
    complain(answer.failure, { json, streams })
    return 1
  } catch (error) {
    return fail(error, command, { json, streams, debug: env.LOG_LEVEL === 'debug' })
  }
}

/** The words before the first option name the command, of several the longest; --json may be anywhere. */
function findCommand(args: readonly string[]): Command | undefined {
  const words = args.filter((arg) => !arg.startsWith('-'))
  const fitting = COMMANDS.filter(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
  return fitting.toSorted((a, b) => b.name.length - a.name.length)[0]
}

function parse(command: Command, args: string[]) {
  try {
    return parseArgs({ args, options: { ...command.options, ...GLOBAL }, allowPositionals: true, strict: true })
  } catch (error) {
    // parseArgs appends advice on positional arguments that begin with a dash; here such a word is always a mistyped option.
    throw new UsageError((error as Error).message.replace(/\. To specify .*$/s, '').replaceAll('\n', ' '))
  }
}

/** Where and how a command prints. */
interface Printing {
  readonly json: boolean
  readonly streams: Streams
}

function print({ data, text }: Answer, { json, streams: { stdout } }: Printing): void {
  if (json) stdout.write(`${JSON.stringify(data)}\n`)
  else stdout.write(typeof text === 'string' ? `${printable(text).replace(/\n$/, '')}\n` : text)
}

function help(args: readonly string[], printing: Printing): number {
  const wanted = args.length === 0 || args.includes('--help') || args.includes('-h') || args[0] === 'help'
  const lines = COMMANDS.map(({ name, usage, summary }) => {
    const call = `${name} ${usage}`.trimEnd()
    return call.length > HELP_COLUMN
      ? `  ${call}\n${' '.repeat(HELP_COLUMN + 4)}${summary}`
      : `  ${call.padEnd(HELP_COLUMN)}  ${summary}`
  })
  const text = `usage: postrider COMMAND [--json] [--help]\n\n${lines.join('\n')}\n\nSettings are environment variables; .env.example lists them.\n`
  if (wanted) printing.streams.stdout.write(text)
  else {
    const problem = `unknown command "${args.filter((arg) => !arg.startsWith('-')).join(' ')}"`
    complain(printing.json ? `${problem}; --help lists the commands` : `${problem}\n\n${text.trimEnd()}`, printing)
  }
  return wanted ? 0 : 2
}

function complain(message: string, { json, streams }: Printing): void {
  streams.stderr.write(json ? `${JSON.stringify({ error: message })}\n` : `postrider: ${message}\n`)
}

function fail(error: unknown, command: Command, printing: Printing & { readonly debug: boolean }): number {
  const known = [UsageError, CommandError, ServiceError, ConfigError].some((kind) => error instanceof kind)
  const message = error instanceof Error ? problemOf(error, command) : String(error)
  const usage = `usage: postrider ${command.name} ${command.usage}`.trimEnd()
  complain(error instanceof UsageError ? `${message}\n${usage}` : message, printing)
  if (!known && printing.debug) printing.streams.stderr.write(`${(error as Error).stack}\n`)
  if (error instanceof ConfigError) return EXIT_CONFIG
  if (error instanceof TemporaryError) return EXIT_TEMPORARY
  return error instanceof UsageError ? 2 : 1
}

/** Options that are not named like their parameters. */
const OPTIONS: Readonly<Record<string, string>> = {
  networks: 'ip',
  scopes: 'scope',
  templates: 'template',
  overlap_hours: 'overlap-hours',
  senderDomains: 'sender-domain',
  recipientDomains: 'recipient-domain',
  sendsPerMinute: 'sends',
  callsPerMinute: 'calls',
}

/** The error's message, in which an invalid parameter is named by the option it was given as: --time-zone, not timeZone. */
function problemOf(error: Error, { options }: Command): string {
  if (!(error instanceof ServiceError) || error.errorName !== 'parameterInvalid') return error.message
  const parameter = String(error.values.parameter).replace(/^restrictions\./, '')
  const spelled = parameter.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const option = [spelled, OPTIONS[parameter]].find((name) => name !== undefined && name in options)
  return option === undefined ? error.message : `--${option}: ${error.values.problem}`
}
