import { styleText } from 'node:util'
import { buildText, programBuild } from '@postrider/core'
import { type CommanderError, type Help, Option, Command as Parser } from 'commander'
import type { Call, Command, Output } from './command.ts'
import { parameterText } from './parameters.ts'
import type { Layout } from './table.ts'
import { TOPICS } from './topics.ts'
import { choicesOf, isFixedList, readUsage, type UsageOption } from './usage.ts'

/** Characters per line of the help if it is not printed on a terminal. */
const WIDTH = 100
const HELP = ['-h', '--help']

/** A parsed command line. */
export interface Parsed {
  readonly command: Command
  readonly options: Call['options']
  readonly words: readonly string[]
}

/** The command line is invalid, or is a request for help. */
export class ParseProblem extends Error {
  /** The command whose options or arguments are invalid; undefined if no command is named. */
  readonly command: Command | undefined
  /** The words that were read as the name of a command or group. */
  readonly path: string

  constructor(message: string, path: string, command: Command | undefined) {
    super(message)
    this.path = path
    this.command = command
  }
}

/**
 * Parses the arguments after `postrider`. Returns undefined if they ask for help or for the version, which is then written to `stdout`.
 *
 * Throws {@link ParseProblem}.
 */
export function parse(
  commands: readonly Command[],
  given: readonly string[],
  stdout: Pick<Output, 'write'>,
  layout: Layout,
): Parsed | undefined {
  // Commander's own option would be found after a command, too, where it is the version of a template.
  if (given.includes('--version') && given.every((one) => one === '--version' || one === '--json')) {
    stdout.write(`${given.includes('--json') ? JSON.stringify(programBuild()) : buildText()}\n`)
    return undefined
  }
  let parsed: Parsed | undefined
  let reached: Parser | undefined
  const root = makeRoot(stdout, layout)
  const nodes = new Map<string, Parser>([['', root]])
  const isHelp = given[0] === 'help' || given.length === 0
  const args = isHelp ? [...given.slice(1), '--help'] : given
  const named = findCommand(commands, args)
  for (const command of commands) {
    const node = nodeOf(nodes, command.name, (sub) => (reached = sub))
    node.summary(command.summary)
    // The options of the others would cost each call some milliseconds, and those of "queue" would be valid for "queue show".
    if (command !== named) continue
    addCommand(node, command, args).action(() => {
      parsed = { command, options: valuesOf(node), words: node.args }
    })
  }
  for (const [path, node] of nodes) if (TOPICS[path]?.about !== undefined) describeGroup(node, path)
  try {
    // Commander would show the help of the group, as if the command were there.
    const isUnknown = namesNothing(nodes, commands, args)
    root.parse(isUnknown ? args.filter((one) => !HELP.includes(one)) : args, { from: 'user' })
  } catch (error) {
    const { code, exitCode, message } = error as CommanderError
    if (exitCode === 0) return undefined
    const path = [...nodes].find(([, node]) => node === reached)?.[0] ?? ''
    const command = commands.find(({ name }) => name === path)
    const hint = code === 'commander.unknownOption' && command ? wordHint(command, args) : ''
    throw new ParseProblem(
      code === 'commander.help' ? `missing command after "${path}"` : `${textOf(message)}${hint}`,
      path,
      command,
    )
  }
  if (!parsed) throw new ParseProblem('options must follow the name of the command', '', undefined)
  return parsed
}

/** How a search with a word that begins with "-" is given: the word was read as an option. */
function wordHint({ name, usage }: Command, args: readonly string[]): string {
  const { words, options } = readUsage(usage)
  const given = args.find((arg) => /^-[^-]/.test(arg) && arg !== '-h')
  if (given === undefined || !words.includes('SEARCH') || options.some((one) => `--${one.name}` === given)) return ''
  return `; a search that begins with "-" follows "--": postrider ${name} -- ${given}`
}

/** Whether a word in the place of a command names none. */
function namesNothing(
  nodes: ReadonlyMap<string, Parser>,
  commands: readonly Command[],
  args: readonly string[],
): boolean {
  let path = ''
  for (const word of args.filter((arg) => !arg.startsWith('-'))) {
    const next = `${path} ${word}`.trimStart()
    if (!nodes.has(next)) return !commands.some(({ name }) => name === path)
    path = next
  }
  return false
}

/** The command that the words before the first option name; of several, the longest. */
function findCommand(commands: readonly Command[], args: readonly string[]): Command | undefined {
  const words = args.filter((arg) => !arg.startsWith('-'))
  const fitting = commands.filter(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
  return fitting.toSorted((a, b) => b.name.length - a.name.length)[0]
}

/** Commander's sentence in the form of the others: without "error:", with double quotes, and on one line. */
function textOf(message: string): string {
  return message
    .replace(/^error: /, '')
    .replaceAll("'", '"')
    .replace('\n(Did you mean', ' (did you mean')
}

function makeRoot(stdout: Pick<Output, 'write'>, { columns, hasColours }: Layout): Parser {
  return new Parser('postrider')
    .usage('COMMAND [--json] [--help]')
    .option('--json', 'Print JSON')
    .helpOption('-h, --help', 'Show this help')
    .helpCommand(false)
    .addHelpText(
      'after',
      '\n"postrider COMMAND --help" shows the commands of a group, or the options of a command; "postrider --version" shows the version.\n' +
        'Settings are environment variables; .env.example lists them.',
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => columns ?? WIDTH,
      getOutHasColors: () => hasColours,
    })
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => command.name(),
      commandUsage,
      styleTitle: (title) => styleText('bold', title, { validateStream: false }),
    })
}

/** The usage line, wrapped with its continuation indented. */
function commandUsage(this: Help, command: Parser): string {
  const names: string[] = []
  for (let one: Parser | null = command; one; one = one.parent) names.unshift(one.name())
  const line = `${names.join(' ')} ${command.usage()}`.trimEnd()
  return this.boxWrap(line, (this.helpWidth ?? WIDTH) - 'Usage: '.length).replaceAll('\n', '\n         ')
}

/** The parser of a command or group; missing groups are added. */
function nodeOf(nodes: Map<string, Parser>, path: string, onEnter: (sub: Parser) => void): Parser {
  const found = nodes.get(path)
  if (found) return found
  const names = path.split(' ')
  const parent = nodeOf(nodes, names.slice(0, -1).join(' '), onEnter)
  const node = parent.command(names.at(-1) as string).helpCommand(false)
  node.hook('preSubcommand', (_group, sub) => onEnter(sub))
  if (parent.parent === null) {
    node.helpGroup(TOPICS[path]?.heading ?? 'Commands:')
    parent.hook('preSubcommand', (_group, sub) => onEnter(sub))
  }
  nodes.set(path, node)
  return node
}

function describeGroup(node: Parser, path: string): void {
  const names = node.commands.map((one) => one.name())
  node.summary(`${TOPICS[path]?.about}: ${names.join(', ')}`)
  // A group that is a command, too, has the description of the command.
  if (!node.description()) node.description(`${TOPICS[path]?.about}.`).usage('COMMAND')
}

function addCommand(node: Parser, command: Command, args: readonly string[]): Parser {
  const { words, options } = readUsage(command.usage)
  node.usage(command.usage).description(descriptionOf(command)).allowExcessArguments()
  for (const word of words) {
    const text = parameterText(command, word)
    if (text !== undefined) node.argument(`[${word}]`, text)
  }
  for (const option of options) node.addOption(makeOption(option, parameterText(command, option.name), args))
  if (command.target !== undefined) {
    node.addOption(
      makeOption({ name: command.target, value: 'ID', isRepeatable: false }, 'Instead of the argument', args),
    )
  }
  if (command.examples) {
    node.addHelpText('after', `\nExamples:\n${command.examples.map((one) => `  postrider ${one}`).join('\n')}`)
  }
  return node
}

function descriptionOf({ summary, detail }: Command): string {
  return detail === undefined ? `${summary}.` : `${summary}. ${detail}.`
}

function makeOption({ name, value, isRepeatable }: UsageOption, about = '', args: readonly string[]): Option {
  const flag = `--${name}`
  if (value === undefined) return new Option(flag, about)
  const choices = choicesOf(value)
  const isList = isFixedList(value)
  const notes = [...(isList ? [`one of ${choices.join(', ')}`] : []), ...(isRepeatable ? ['repeatable'] : [])]
  const text = notes.length > 0 ? `${about} (${notes.join('; ')})`.trimStart() : about
  const option = new Option(`${flag} <${isList ? 'VALUE' : value}>`, text)
  return option.argParser<string | string[] | undefined>((given, before) => {
    // After `--name --json`, the name was forgotten.
    if (given.length > 1 && given.startsWith('-') && args[args.indexOf(flag) + 1] === given) {
      throw new Error(`option "${flag}" argument missing; one that begins with "-" is given as ${flag}=${given}`)
    }
    return isRepeatable ? [before ?? [], given].flat() : given
  })
}

/** The given options, by their names in the usage line. */
function valuesOf(node: Parser): Call['options'] {
  const own = node.options.map((option) => [option.name(), node.getOptionValue(option.attributeName())])
  const json = node.optsWithGlobals().json === true ? [['json', true]] : []
  return Object.fromEntries([...own, ...json].filter(([, value]) => value !== undefined))
}
