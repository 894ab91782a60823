import { type Config, type Core, readIsoTime, readSearchTime } from '@postrider/core'

/** A command of `postrider`. */
export interface Command {
  /** "account create" */
  readonly name: string
  /** Arguments and options after the name: "DOMAIN --account ID [--active]". Parser, help and completion read it ({@link readUsage}). */
  readonly usage: string
  /** One sentence for lists of commands. */
  readonly summary: string
  /** Further sentences for the help of the command. */
  readonly detail?: string
  /** Descriptions of arguments and options (without dashes) that replace those of {@link PARAMETERS}. */
  readonly parameters?: Readonly<Record<string, string>>
  /** The option with which the first argument can be given instead, for example "account". */
  readonly target?: string
  /** Calls for the help, without "postrider". */
  readonly examples?: readonly string[]
  /**
   * Whether the command, as it is called, takes away something that no other command brings back. It then asks on a terminal, and needs --yes elsewhere
   * (commands/confirming.ts), which coreCommand sees to.
   */
  readonly destroys?: true | ((call: Call) => boolean)
  /** Whether the command may create the embedded database. For all others, its absence means a wrong DATA_DIR. */
  readonly creates?: boolean
  /** Whether the command applies missing migrations with MIGRATE=manual, too. */
  readonly migrates?: boolean
  /** Whether the command itself reports variables that look like misspelt settings. */
  readonly checksSettings?: boolean
  /** Returns what to print: `data` with --json, `text` otherwise. */
  run(call: Call): Promise<Answer | undefined>
}

/** A stream for output to a terminal, which has columns, or to another program. */
export type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'write'> & Partial<Pick<NodeJS.WriteStream, 'columns'>>

export interface Call {
  readonly options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  readonly words: readonly string[]
  /** All commands. */
  readonly commands: readonly Command[]
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  /** For progress. Commands that run until they are stopped, or that prompt, use the streams of the process instead. */
  readonly stderr: Output
  /** Characters per line of the terminal that the text is printed on; undefined if it is not a terminal. */
  readonly columns?: number | undefined
  /** Runs `act` on the installation's database. If the embedded database is not running, it is started and stopped afterwards. */
  withCore<T>(act: (core: Core) => Promise<T>): Promise<T>
}

export interface Answer {
  readonly data: unknown
  /** A Buffer is printed unchanged; from a string, control characters are removed, and its tables ({@link table}) are laid out. */
  readonly text: string | Buffer
  /** Why the command succeeded only in part. Printed after the output; the exit status is that of `status`. */
  readonly failure?: string
  /** 3: all was done, and some of it needs a look. Default: 1. */
  readonly status?: 1 | 3
}

/** The command line is invalid; the message names what is missing or wrong. Exit status 2. */
export class UsageError extends Error {}

/** The command failed; the message is for the user. Exit status 1. */
export class CommandError extends Error {}

/** The command may succeed later. Exit status 75 (EX_TEMPFAIL of sysexits.h), at which a mail server tries again. */
export class TemporaryError extends CommandError {}

export function textOption(call: Call, name: string): string | undefined {
  const value = call.options[name]
  return typeof value === 'string' ? value : undefined
}

/** Throws {@link UsageError}. */
export function requiredText(call: Call, name: string): string {
  const value = textOption(call, name)
  if (!value) throw new UsageError(`missing option --${name}`)
  return value
}

export function textsOption(call: Call, name: string): string[] {
  const value = call.options[name]
  return Array.isArray(value) ? value.map(String) : []
}

/** The number in an option. Throws {@link UsageError}. */
export function requiredId(call: Call, name: string): number {
  return number(requiredText(call, name), `--${name}`)
}

/** The whole number in an option, if it is given. Throws {@link UsageError}. */
export function wholeOption(call: Call, name: string): number | undefined {
  const text = textOption(call, name)
  return text === undefined ? undefined : number(text, `--${name}`)
}

/** A date, or a date with a time; without a zone it is UTC. Throws {@link UsageError}. */
export function isoTime(text: string, option: string): Date {
  const time = readIsoTime(text)
  if (time === undefined)
    throw new UsageError(`${option} must be an ISO 8601 time like 2030-01-31T12:00:00Z (got "${text}")`)
  return time
}

/** The time in an option, if it is given; `--since` can also be `1h`, `2d` or `yesterday`, as in a search. Throws {@link UsageError}. */
export function timeOption(call: Call, name: string): Date | undefined {
  const text = textOption(call, name)
  if (text === undefined) return undefined
  const ago = name === 'since' ? readSearchTime(text, { now: new Date(), timeZone: 'UTC' }) : undefined
  return ago ?? isoTime(text, `--${name}`)
}

/** Rows of a list. */
const LIMIT = { usual: 50, most: 1000 } as const

/** The limit of a list. Throws {@link UsageError}. */
export function limitOption(call: Call, { usual, most }: { usual: number; most: number } = LIMIT): number {
  const limit = wholeOption(call, 'limit') ?? usual
  if (limit < 1 || limit > most) throw new UsageError(`--limit must be from 1 to ${most} (got ${limit})`)
  return limit
}

/** The id of an account or a key, given as argument or as option. Throws {@link UsageError}. */
export function requiredTarget(call: Call, name: string): number {
  const option = textOption(call, name)
  if (option && call.words[0]) throw new UsageError(`${name} given both as argument and as --${name}`)
  return number(option || requiredWord(call, `${name} id`), `${name} id`)
}

function number(text: string, what: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${what} must be a number (got "${text}")`)
  return Number(text)
}

/** The first positional argument. Throws {@link UsageError}. */
export function requiredWord(call: Call, what: string): string {
  const word = call.words[0]
  if (!word) throw new UsageError(`missing argument: ${what}`)
  return word
}
