/** A row of the list of settings. */
export interface Setting {
  readonly name: string
  readonly default: string
  /** For .env.example. */
  readonly meaning: string
  /** Whether its value must not be shown. */
  readonly isSecret?: true
}
