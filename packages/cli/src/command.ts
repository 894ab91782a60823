import type { ParseArgsConfig } from 'node:util'
import type { Config, Core } from '@postrider/core'

/** One thing `postrider` can do. */
export interface Command {
  /** "account create" */
  readonly name: string
  /** What follows the name: "--name NAME" */
  readonly usage: string
  readonly summary: string
  /** How many words may follow the name. Default 0. */
  readonly words?: number
  readonly options: NonNullable<ParseArgsConfig['options']>
  /** Answers what to print: `data` for --json, `text` for people. */
  run(call: Call): Promise<Answer | undefined>
}

/** A stream that people or programs read. */
export type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>

export interface Call {
  readonly options: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  readonly words: readonly string[]
  readonly config: Config
  readonly env: NodeJS.ProcessEnv
  /** For what is told on the way. What runs until it is stopped, or asks a person, speaks to its process itself. */
  readonly stderr: Output
  /** Runs `act` on the installation's database, which is started for the time when it isn't running. */
  withCore<T>(act: (core: Core) => Promise<T>): Promise<T>
}

export interface Answer {
  readonly data: unknown
  /** Octets are printed as they are, text without what would steer a terminal. */
  readonly text: string | Buffer
  /** It did what it could, and not all: why. Printed beside the answer; exit status 1. */
  readonly failure?: string
}

/** The call is malformed; the message says what is missing. Exit status 2. */
export class UsageError extends Error {}

/** The command did what it could and failed; the message is for the person. Exit status 1. */
export class CommandError extends Error {}

export function textOption(call: Call, name: string): string | undefined {
  const value = call.options[name]
  return typeof value === 'string' ? value : undefined
}

/** Throws {@link UsageError}. */
export function requiredText(call: Call, name: string): string {
  const value = textOption(call, name)
  if (!value) throw new UsageError(`--${name} is missing`)
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

/** A date, or a date and a time; `Date` alone would take "1" for a month. Throws {@link UsageError}. */
export function isoTime(text: string, option: string): Date {
  const time = new Date(text)
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}|$)/.test(text) || Number.isNaN(time.getTime())) {
    throw new UsageError(`${option} must be an ISO 8601 time like 2030-01-31T12:00:00Z, not "${text}"`)
  }
  return time
}

/** The number of an account or a key: the word after the command, or the option. Throws {@link UsageError}. */
export function requiredTarget(call: Call, name: string): number {
  const option = textOption(call, name)
  if (option && call.words[0]) throw new UsageError(`the ${name} is given twice, as ${call.words[0]} and as --${name}`)
  return number(option || requiredWord(call, `the number of the ${name}`), `the ${name}`)
}

function number(text: string, what: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${what} must be a number, not "${text}"`)
  return Number(text)
}

/** The first word after the command. Throws {@link UsageError}. */
export function requiredWord(call: Call, what: string): string {
  const word = call.words[0]
  if (!word) throw new UsageError(`${what} is missing`)
  return word
}

/** Rows under a heading, columns aligned. */
export function table(heading: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [heading, ...rows].map((row) =>
    row.map((cell) =>
      cell instanceof Date ? cell.toISOString() : printable(String(cell ?? '')).replace(/[\t\n]/g, ' '),
    ),
  )
  const widths = heading.map((_cell, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Subjects and replies come from outside: escape sequences in them must not reach a terminal, nor may text run backwards. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[^\P{C}\t\n]/gu, '\ufffd')
}
