import { parseArgs } from 'node:util'
import { ConfigError, EXIT_CONFIG, readConfig, ServiceError } from '@postrider/core'
import { type Answer, type Command, CommandError, UsageError } from './command.ts'
import { accountCommands } from './commands/account.ts'
import { contentCommands } from './commands/content.ts'
import { domainCommands } from './commands/domain.ts'
import { inboxCommands } from './commands/inbox.ts'
import { keyCommands } from './commands/key.ts'
import { messageCommands } from './commands/message.ts'
import { operateCommands } from './commands/operate.ts'
import { upCommands } from './commands/up.ts'
import { withInstallation } from './installation.ts'

const COMMANDS: readonly Command[] = [
  ...upCommands,
  ...operateCommands,
  ...accountCommands,
  ...keyCommands,
  ...domainCommands,
  ...contentCommands,
  ...messageCommands,
  ...inboxCommands,
]

const GLOBAL = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const

process.exitCode = await main(process.argv.slice(2))

/** Exit status: 0 done, 1 refused or failed, 2 the call was malformed, 78 a setting is wrong. */
async function main(args: string[]): Promise<number> {
  const json = args.includes('--json')
  try {
    const command = findCommand(args)
    if (!command) return help(args)
    const { values, positionals } = parse(command, args)
    if (values.help) {
      process.stdout.write(`postrider ${command.name} ${command.usage}\n  ${command.summary}\n`)
      return 0
    }
    const config = readConfig(process.env)
    const answer = await command.run({
      options: values,
      words: positionals.slice(command.name.split(' ').length),
      config,
      env: process.env,
      withCore: (act) => withInstallation(config, process.env.DATABASE_URL || undefined, act),
    })
    if (answer) print(answer, json)
    return 0
  } catch (error) {
    return fail(error, json)
  }
}

/** The words before the first option name the command; --json may stand anywhere. */
function findCommand(args: readonly string[]): Command | undefined {
  const words = args.filter((arg) => !arg.startsWith('-'))
  return COMMANDS.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
}

function parse(command: Command, args: string[]) {
  try {
    return parseArgs({ args, options: { ...command.options, ...GLOBAL }, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nusage: postrider ${command.name} ${command.usage}`)
  }
}

function print({ data, text }: Answer, json: boolean): void {
  process.stdout.write(json ? `${JSON.stringify(data)}\n` : text.endsWith('\n') ? text : `${text}\n`)
}

function help(args: readonly string[]): number {
  const wanted = args.length === 0 || args.includes('--help') || args.includes('-h') || args[0] === 'help'
  const width = Math.max(...COMMANDS.map(({ name, usage }) => name.length + usage.length)) + 1
  const lines = COMMANDS.map(({ name, usage, summary }) => `  ${`${name} ${usage}`.padEnd(width)}  ${summary}`)
  const text = `usage: postrider COMMAND [--json] [--help]\n\n${lines.join('\n')}\n\nSettings are environment variables; .env.example lists them.\n`
  if (wanted) process.stdout.write(text)
  else
    process.stderr.write(
      `postrider: there is no command "${args.filter((arg) => !arg.startsWith('-')).join(' ')}"\n\n${text}`,
    )
  return wanted ? 0 : 2
}

function fail(error: unknown, json: boolean): number {
  const known = [UsageError, CommandError, ServiceError, ConfigError].some((kind) => error instanceof kind)
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(json ? `${JSON.stringify({ error: message })}\n` : `postrider: ${message}\n`)
  if (!known && process.env.LOG_LEVEL === 'debug') process.stderr.write(`${(error as Error).stack}\n`)
  if (error instanceof ConfigError) return EXIT_CONFIG
  return error instanceof UsageError ? 2 : 1
}
