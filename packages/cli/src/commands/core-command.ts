import type { Core } from '@postrider/core'
import {
  type Answer,
  type Call,
  type Command,
  limitOption,
  requiredId,
  requiredTarget,
  textOption,
  textsOption,
  timeOption,
  UsageError,
  wholeOption,
} from '../command.ts'
import { choicesOf, isFixedList, readUsage } from '../usage.ts'
import { asksConsent, requireConsent, withYes } from './confirming.ts'

interface CoreCommand<U extends string, I> extends Omit<Command, 'run' | 'usage'> {
  readonly usage: U
  /** The argument `ID` is a text; otherwise a number. */
  readonly hasTextId?: I
  /** The rows that --limit gives. */
  readonly limit?: { readonly usual: number; readonly most: number }
  run?(core: Core, given: Given<U, I>, call: Call): Promise<Answer | undefined>
  /** Throws if there is nothing that the command could destroy: who called it by mistake is told so, and not asked first. */
  look?(core: Core, given: Given<U, I>): Promise<unknown>
  /** In place of `run`: checks what was given before the database is opened, which may first have to be started. */
  prepare?(given: Given<U, I>, call: Call): Act | Promise<Act>
}

type Act = (core: Core) => Promise<Answer | undefined>

/**
 * A command that acts on the installation's database. Its usage line says what it is given: arguments and options outside of brackets are
 * required, `ID`, `N` and `NUMBER` are whole numbers, `ROWS` is one that is 0 if it is not given, `TIME` is a time, `on|off` and `yes|no` are booleans,
 * other fixed lists are one of their values, and `default` of `N|default` is null.
 */
export function coreCommand<const U extends string, const I = false>(spec: CoreCommand<U, I>): Command {
  const { run, prepare, look, limit: _limit, hasTextId: _hasTextId, ...command } = spec
  return {
    ...command,
    ...(command.destroys === undefined ? {} : { usage: withYes(command.usage) }),
    run: async (call) => {
      const given = givenOf(spec, call) as Given<U, I>
      const act = await prepare?.(given, call)
      const isAsked = asksConsent(call, command)
      return call.withCore(async (core) => {
        if (isAsked) {
          await look?.(core, given)
          await requireConsent(call, command)
        }
        return act?.(core) ?? run?.(core, given, call)
      })
    },
  }
}

/** Options whose `ID` is a number. */
const NUMBERED = ['account', 'group', 'rule'] as const
const NUMBERS = ['N', 'NUMBER'] as const

/** Names of arguments in errors, if they differ from their placeholders. */
const NOUNS: Readonly<Record<string, string>> = {
  EMAIL: 'email address',
  ADDRESS: 'email address',
  USERNAME: 'user name',
  'DOMAIN|all': 'domain',
  'required|verified|dane|none': 'level',
}

/** Throws {@link UsageError}. */
function givenOf(spec: CoreCommand<string, unknown>, call: Call): Readonly<Record<string, unknown>> {
  const { words, options, optional } = readUsage(spec.usage)
  const group = spec.target ?? String(spec.name.split(' ')[0])
  const given: Record<string, unknown> = {}
  for (const [at, name] of words.entries()) {
    const isId = at === 0 && name === 'ID'
    const text = call.words[at] || (isId && spec.target ? textOption(call, spec.target) : undefined)
    const what = isId ? `${group} id` : isFixedList(name) ? listed(name) : (NOUNS[name] ?? name.toLowerCase())
    if (!text && !optional.has(name)) throw new UsageError(`missing argument: ${what}`)
    if (!text) continue
    if (isId && !spec.hasTextId) given[name] = requiredTarget(call, group)
    else given[name] = isFixedList(name) ? choice(name, text, `the ${NOUNS[name] ?? 'argument'}`) : text
  }
  for (const { name, value, isRepeatable } of options) {
    if (value !== undefined && !optional.has(name) && !textOption(call, name))
      throw new UsageError(isFixedList(value) ? `--${name} must be ${listed(value)}` : `missing option --${name}`)
    given[name] = isRepeatable ? textsOption(call, name) : optionValue(call, name, value)
  }
  if ('limit' in given) given.limit = limitOption(call, spec.limit)
  return given
}

function optionValue(call: Call, name: string, value: string | undefined): unknown {
  const text = textOption(call, name)
  if (value === undefined) return call.options[name] === true
  if (text === undefined) return value === 'ROWS' ? 0 : undefined
  if (value === 'ID' && NUMBERED.some((one) => one === name)) return requiredId(call, name)
  if (name === 'amount') return amount(text)
  if (NUMBERS.some((one) => one === value)) return wholeOption(call, name)
  if (value === 'ROWS') return wholeOption(call, name)
  if (value === 'N|default') return text === 'default' ? null : wholeOption(call, name)
  if (value === 'TIME') return timeOption(call, name)
  return isFixedList(value) ? choice(value, text, `--${name}`) : text
}

/** Credits may be more than ids. Throws {@link UsageError}. */
function amount(text: string): number {
  if (!/^\d{1,13}$/.test(text)) throw new UsageError(`--amount must be a whole number (got "${text}")`)
  return Number(text)
}

/** Throws {@link UsageError}. */
function choice(list: string, text: string, what: string): string | boolean {
  if (!choicesOf(list).includes(text)) throw new UsageError(`${what} must be ${listed(list)} (got "${text}")`)
  return list === 'on|off' || list === 'yes|no' ? text === 'on' || text === 'yes' : text
}

/** Such as "day, week or month". */
function listed(list: string): string {
  return list.replaceAll('|', ', ').replace(/, ([^,]*)$/, ' or $1')
}

/** The arguments by their placeholders, and the options by their names, of a usage line. */
export type Given<U extends string, I = false> = Fold<Tokens<U>, false, I, unknown>

type Tokens<S extends string, A extends readonly string[] = []> = S extends `${infer H} ${infer R}`
  ? Tokens<R, [...A, H]>
  : [...A, S]

/** `O`: whether the tokens are in brackets. */
type Fold<L extends readonly string[], O extends boolean, I, A> = L extends readonly [
  infer H extends string,
  ...infer R extends readonly string[],
]
  ? H extends `[${infer B}`
    ? Fold<[B, ...R], true, I, A>
    : H extends `(${infer B}` | `{${infer B}`
      ? Fold<[B, ...R], true, I, A>
      : H extends '' | '|'
        ? Fold<R, O, I, A>
        : H extends `--${infer Name}`
          ? FoldOption<Name, R, O, I, A>
          : H extends `${infer W}]${string}`
            ? Fold<R, false, I, A & { readonly [K in W]: WordValue<W, I> | undefined }>
            : Fold<R, O, I, A & { readonly [K in H]: O extends true ? WordValue<H, I> | undefined : WordValue<H, I> }>
  : A

type FoldOption<
  N extends string,
  L extends readonly string[],
  O extends boolean,
  I,
  A,
> = N extends `${infer F}${Closing}`
  ? Fold<L, false, I, A & { readonly [K in F]: boolean }>
  : L extends readonly [infer V extends string, ...infer R extends readonly string[]]
    ? V extends `--${string}` | `[${string}` | `(${string}` | '|'
      ? Fold<L, O, I, A & { readonly [K in N]: boolean }>
      : V extends `${string}]...`
        ? Fold<R, false, I, A & { readonly [K in N]: readonly string[] }>
        : V extends `${infer P}${Closing}`
          ? Fold<R, false, I, A & { readonly [K in N]: Value<N, P> | Absent<N, P> }>
          : Fold<R, O, I, A & { readonly [K in N]: Value<N, V> | (O extends true ? Absent<N, V> : never) }>
    : A & { readonly [K in N]: boolean }

type Closing = ']' | ')' | '}'

/** Those with a usual value are never absent. */
type Absent<N, P> = N extends 'limit' ? never : P extends 'ROWS' ? never : undefined

type WordValue<W, I> = W extends 'ID' ? (I extends true ? string : number) : Value<'', W>

type Value<N, P> = P extends (typeof NUMBERS)[number] | 'ROWS'
  ? number
  : P extends 'ID'
    ? N extends (typeof NUMBERED)[number]
      ? number
      : string
    : P extends 'TIME'
      ? Date
      : P extends 'N|default'
        ? number | null
        : P extends 'on|off' | 'yes|no'
          ? boolean
          : P extends `${string}|${string}`
            ? P extends Lowercase<P>
              ? OneOf<P>
              : string
            : string

type OneOf<P extends string> = P extends `${infer H}|${infer R}` ? H | OneOf<R> : P
