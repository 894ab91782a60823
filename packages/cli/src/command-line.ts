import {
  BackupError,
  ConfigError,
  createSpeech,
  EXIT_CONFIG,
  misspeltSettings,
  misspeltText,
  readConfig,
  resembles,
  ServiceError,
} from '@postrider/core'
import { type Answer, type Command, CommandError, type Output, TemporaryError, UsageError } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { trialSettings } from './first-run.ts'
import { requireInstallation, withInstallation } from './installation.ts'
import { ParseProblem, parse } from './parser.ts'
import { type Layout, layOut } from './table.ts'
import { readUsage } from './usage.ts'

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
  // "up" is a service, whose lines are those of its log.
  const { complain: warn } = createSpeech('up', { env: args[0] === 'up' ? env : {}, stderr: streams.stderr })
  const layout = layoutOf(streams.stdout, env)
  let command: Command | undefined
  try {
    const parsed = parse(COMMANDS, args, streams.stdout, layout)
    if (!parsed) return 0
    const { options, words } = parsed
    command = parsed.command
    const surplus = words[readUsage(command.usage).words.length]
    if (surplus !== undefined) throw new UsageError(`unexpected argument "${surplus}"${meantInstead(surplus, command)}`)
    for (const one of command.checksSettings ? [] : misspeltSettings(env)) warn(misspeltText(one))
    const config = readConfig(env)
    const { creates, migrates } = command
    const answer = await command.run({
      options,
      words,
      commands: COMMANDS,
      config,
      env,
      stderr: streams.stderr,
      columns: layout.columns,
      withCore: (act) => {
        if (!env.DATABASE_URL && !creates) requireInstallation(config)
        // An embedded database is that of "up": what its processes allow, such as a webhook on this machine, its commands allow, too.
        const own = env.DATABASE_URL ? config : readConfig({ ...trialSettings(config, env), ...env })
        const given = migrates ? { ...own, migrate: 'auto' as const } : own
        return withInstallation(given, env.DATABASE_URL || undefined, act, warn)
      },
    })
    if (answer) print(answer, { json, streams, warn }, layout)
    if (answer?.failure === undefined) return 0
    complain(answer.failure, { json, streams, warn })
    return answer.status ?? 1
  } catch (error) {
    return fail(error, command, { json, streams, warn, debug: env.LOG_LEVEL === 'debug' })
  }
}

/** A group that is a command, too, takes the misspelt name of a command in it for an argument: `queue shwo`. */
function meantInstead(word: string, { name }: Command): string {
  const inGroup = COMMANDS.filter((one) => one.name.startsWith(`${name} `)).map((one) =>
    one.name.slice(name.length + 1),
  )
  const meant = inGroup.find((one) => resembles(word, one))
  return meant === undefined ? '' : ` (did you mean "${name} ${meant}"?)`
}

/** Only a terminal has a width and colours; colours not if NO_COLOR (https://no-color.org) is set. Some report 0 columns. */
function layoutOf({ isTTY, columns }: Output, env: NodeJS.ProcessEnv): Layout {
  return isTTY
    ? { columns: columns || undefined, hasColours: !env.NO_COLOR && env.TERM !== 'dumb' }
    : { hasColours: false }
}

/** Where and how a command prints. */
interface Printing {
  readonly json: boolean
  readonly streams: Streams
  /** Says a sentence on stderr. */
  readonly warn: (sentence: string) => void
}

function print({ data, text }: Answer, { json, streams: { stdout } }: Printing, layout: Layout): void {
  if (json) stdout.write(`${JSON.stringify(data)}\n`)
  else stdout.write(typeof text === 'string' ? `${layOut(text, layout).replace(/\n$/, '')}\n` : text)
}

function complain(message: string, { json, streams, warn }: Printing): void {
  if (json) streams.stderr.write(`${JSON.stringify({ error: message })}\n`)
  else warn(message)
}

function fail(error: unknown, command: Command | undefined, printing: Printing & { readonly debug: boolean }): number {
  if (error instanceof ParseProblem) return failToParse(error, printing)
  const known = [UsageError, CommandError, ServiceError, ConfigError, BackupError].some((kind) => error instanceof kind)
  const message = error instanceof Error && command ? problemOf(error, command) : String(error)
  complain(error instanceof UsageError && command ? `${message}\n${usageOf(command)}` : message, printing)
  if (!known && printing.debug) printing.streams.stderr.write(`${(error as Error).stack}\n`)
  if (error instanceof ConfigError) return EXIT_CONFIG
  if (error instanceof TemporaryError) return EXIT_TEMPORARY
  return error instanceof UsageError ? 2 : 1
}

function failToParse({ message, path, command }: ParseProblem, printing: Printing): number {
  const help = `"${`postrider ${path}`.trimEnd()} --help" lists the commands`
  complain(command ? `${message}\n${usageOf(command)}` : `${message}; ${help}`, printing)
  return 2
}

function usageOf({ name, usage }: Command): string {
  return `usage: postrider ${name} ${usage}`.trimEnd()
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
  offset: 'after',
  before: 'after',
  next: 'after',
}

/** The error's message, in which an invalid parameter is named by the option it was given as: --time-zone, not timeZone. */
function problemOf(error: Error, { usage, target }: Command): string {
  if (!(error instanceof ServiceError) || error.errorName !== 'parameterInvalid') return error.message
  const parameter = String(error.values.parameter).replace(/^restrictions\./, '')
  const spelled = parameter.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const names = readUsage(usage).options.map(({ name }) => `--${name}`)
  const isNamed = (name: string): boolean => names.includes(name) || name === target
  const given = [spelled, OPTIONS[parameter]].flatMap((name = '') => [`--${name}`, name]).find(isNamed)
  return given === undefined ? error.message : `${given}: ${error.values.problem}`
}
