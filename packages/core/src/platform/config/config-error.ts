/** A setting is invalid; the message names the setting and states what is allowed. */
export class ConfigError extends Error {
  constructor(setting: string, problem: string) {
    super(`${setting} ${problem}`)
    this.name = 'ConfigError'
  }
}

export type Environment = Readonly<Record<string, string | undefined>>
