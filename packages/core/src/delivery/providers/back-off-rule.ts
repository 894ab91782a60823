import { Entry, type Located } from './entry.ts'
import { ProvidersError } from './providers-error.ts'
import { fitsPieces, patternProblem, piecesOf, prepareReply } from './reply-pattern.ts'
import type { MessageRate } from './units.ts'
import type { YamlNode } from './yaml-tree.ts'

/** The effect of a rule on the provider whose replies it counted. */
export type RuleEffect =
  /** Nothing is sent. */
  | { readonly kind: 'pause' }
  | { readonly kind: 'rate'; readonly rate: MessageRate }
  | { readonly kind: 'connections'; readonly most: number }
  | { readonly kind: 'messagesPerConnection'; readonly most: number }
  /** Half of the present rate. */
  | { readonly kind: 'halve' }
  /** Slows nothing: the refusal is about the sender's domain. */
  | { readonly kind: 'finding' }

export interface BackOffRule {
  /** Unique over all rules. */
  readonly id: string
  /** Number of fitting replies, within `within` seconds, at which the rule takes effect. */
  readonly times: number
  readonly within: number
  readonly effect: RuleEffect
  /** Seconds; 0 for a finding. */
  readonly lasts: number
  /** `account`: only the account whose mail was refused is paused. */
  readonly scope: 'provider' | 'account'
  /** The texts and codes of {@link matches}. */
  readonly reply: readonly string[]
  readonly enhanced: readonly string[]
  /** Takes time in proportion to the length of the text, whatever the text. */
  matches(reply: { readonly enhanced: string; readonly text: string }): boolean
}

/** A rule with its position in a file. */
export interface LocatedRule {
  readonly id: Located
  readonly rule: BackOffRule
}

const EFFECTS = ['pause', 'rate', 'connections', 'messagesPerConnection', 'halve', 'finding'] as const
const KEYS = ['id', 'reply', 'enhanced', 'times', 'within', ...EFFECTS, 'for', 'scope']
export const MAX_LIMIT = 10_000
const MAX_TIMES = 1000
const MAX_TEXTS = 50
const DEFAULT_WITHIN = 3600

/** Reads a rule. Throws {@link ProvidersError}. */
export function readRule(node: YamlNode): LocatedRule {
  const entry = new Entry(node, 'a rule', KEYS)
  const id = entry.text('id')
  if (!/^[a-z0-9-]{1,40}$/.test(id.text)) throw entry.problem('id', '"id" must be 1 to 40 of a-z, 0-9 and -')
  const effect = readEffect(entry)
  const rule = {
    id: id.text,
    times: entry.has('times') ? entry.whole('times', 1, MAX_TIMES) : 1,
    within: entry.has('within') ? entry.duration('within') : DEFAULT_WITHIN,
    effect,
    lasts: readLasts(entry, effect),
    scope: readScope(entry, effect),
  }
  return { id, rule: { ...rule, ...readCondition(entry) } }
}

function readEffect(entry: Entry): RuleEffect {
  const [kind, second] = EFFECTS.filter((name) => entry.has(name))
  if (kind === undefined) throw entry.problem('', `a rule must have an effect: one of ${EFFECTS.join(', ')}`)
  if (second) throw entry.problem(second, `a rule has one effect; write a second rule, or remove ${kind} or ${second}`)
  switch (kind) {
    case 'rate':
      return { kind, rate: entry.rate('rate') }
    case 'connections':
    case 'messagesPerConnection':
      return { kind, most: entry.whole(kind, 1, MAX_LIMIT) }
    case 'halve':
    case 'finding':
      entry.yes(kind)
      return { kind }
    case 'pause':
      return { kind }
  }
}

function readLasts(entry: Entry, { kind }: RuleEffect): number {
  if (kind !== 'pause' && kind !== 'finding') return entry.duration('for')
  if (entry.has('for')) {
    const reason = kind === 'pause' ? '"pause" already has the duration' : 'a finding slows nothing'
    throw entry.problem('for', `${reason}; remove "for"`)
  }
  return kind === 'pause' ? entry.duration('pause') : 0
}

function readScope(entry: Entry, { kind }: RuleEffect): BackOffRule['scope'] {
  const scope = entry.has('scope') ? entry.oneOf('scope', ['provider', 'account']) : 'provider'
  if (scope === 'account' && kind !== 'pause') {
    throw entry.problem('scope', 'only "pause" can apply to an account; remove "scope: account"')
  }
  return scope
}

function readCondition(entry: Entry): Pick<BackOffRule, 'matches' | 'reply' | 'enhanced'> {
  const patterns = entry.texts('reply', MAX_TEXTS)
  const codes = entry.texts('enhanced', MAX_TEXTS)
  if (patterns.length === 0 && codes.length === 0) {
    throw entry.problem('reply', 'a rule must have "reply" with a text, or "enhanced" with a code such as 4.7.28')
  }
  for (const { text, line, file } of patterns) {
    const problem = patternProblem(text)
    if (problem) throw new ProvidersError(file, line, problem)
  }
  for (const { text, line, file } of codes) {
    if (!/^[245]\.\d{1,3}\.\d{1,3}$/.test(text)) {
      throw new ProvidersError(file, line, `"enhanced" must be codes such as 5.7.26 (got "${text.slice(0, 40)}")`)
    }
  }
  const pieces = patterns.map(({ text }) => piecesOf(text))
  const wanted = new Set(codes.map(({ text }) => text))
  return {
    reply: patterns.map(({ text }) => text),
    enhanced: [...wanted],
    matches(reply) {
      const { codes: sent, text } = prepareReply(reply)
      if (wanted.size > 0 && !sent.some((code) => wanted.has(code))) return false
      return pieces.length === 0 || pieces.some((one) => fitsPieces(one, text))
    },
  }
}
