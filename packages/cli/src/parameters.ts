import type { Command } from './command.ts'

/** Descriptions of arguments and options (without dashes) for most of the commands that have them. */
export const PARAMETERS: Readonly<Record<string, string>> = {}

/** Returns the description of an argument or option of a command for its help, if there is one. */
export function parameterText({ parameters }: Command, name: string): string | undefined {
  return parameters?.[name] ?? PARAMETERS[name]
}
