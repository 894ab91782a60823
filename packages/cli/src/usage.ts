/** An option that a usage line declares. */
export interface UsageOption {
  /** Without the dashes. */
  readonly name: string
  /** The placeholder of its value ("ID"), or its possible values ("v2|v3|smtp"); undefined if it has no value. */
  readonly value?: string
  readonly isRepeatable: boolean
}

/** The arguments and options of a usage line. */
export interface Usage {
  /** Placeholders of the positional arguments, in their order. */
  readonly words: readonly string[]
  readonly options: readonly UsageOption[]
  /** The words and options in brackets. */
  readonly optional: ReadonlySet<string>
}

/**
 * Reads a usage line such as `NAME --for USES [--class CLASS]... | --all`. An option has a value if a word follows it directly; other
 * words are positional arguments. Brackets and bars are for people: which combinations are valid is decided by the command.
 */
export function readUsage(usage: string): Usage {
  const words: string[] = []
  const options = new Map<string, UsageOption>()
  const optional = new Set<string>()
  let depth = 0
  const tokens = usage
    .replaceAll(/[[\](){}]/g, ' $& ')
    .split(' ')
    .filter(Boolean)
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as string
    if (/^[[({]$/.test(token)) depth++
    else if (/^[\])}]$/.test(token)) depth--
    if (depth > 0) optional.add(token.replace(/^--/, ''))
    if (token.startsWith('--')) {
      const next = tokens[at + 1]
      const value = next !== undefined && isWord(next) ? next : undefined
      const repeats = tokens[at + 3] === '...'
      const name = token.slice(2)
      if (!options.has(name))
        options.set(name, { name, isRepeatable: repeats, ...(value === undefined ? {} : { value }) })
      if (value !== undefined) at++
    } else if (isWord(token)) words.push(token)
  }
  return { words, options: [...options.values()], optional }
}

/** The possible values of an argument or option, in lower case. */
export function choicesOf(value: string): string[] {
  return value.includes('|') ? value.split('|').filter((one) => /^[a-z0-9][a-z0-9-]*$/.test(one)) : []
}

/** Whether an argument or option has one of its {@link choicesOf}, and nothing else. */
export function isFixedList(value: string): boolean {
  return value.includes('|') && choicesOf(value).length === value.split('|').length
}

function isWord(token: string): boolean {
  return !token.startsWith('--') && token !== '|' && token !== '...' && !/^[[\](){}]$/.test(token)
}
