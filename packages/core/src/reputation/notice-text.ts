import type { HoldLevel } from '../delivery/queue/account-holds.ts'

/** The change of an account's standing that its owner is told about. */
export interface AccountNotice {
  readonly accountId: number
  readonly name: string
  /** A rule of rules.ts, `repeated-recipient` or `operator`. */
  readonly rule: string
  readonly level: HoldLevel
  /** The classes of mail that are slowed or held; empty if all, or for a warning. */
  readonly classes: readonly string[]
  readonly figures: Readonly<Record<string, number>>
  /** The domains that a rule about domains concerns, some of them if they are many. */
  readonly domains: readonly string[]
  readonly createdAt: Date
}

interface RuleText {
  /** Completes "because …". */
  readonly cause: string
  readonly advice: string
  /** Instead of the meaning of the level. */
  readonly meaning?: string
}

const LISTS =
  'Send only to people who want this mail, and remove addresses that bounced or did not react for a long time. Addresses that ' +
  'bounced are suppressed already. If you did not send this mail, an API key may be in the wrong hands: revoke it.'

const RULES: Readonly<Record<string, RuleText>> = {
  bounces: { cause: 'too much of it goes to mailboxes or domains that do not exist', advice: LISTS },
  'unknown-recipients': {
    cause: 'within an hour, much of it went to mailboxes or domains that do not exist',
    advice: LISTS,
  },
  complaints: {
    cause: 'too many recipients reported it as spam',
    advice:
      'Send only to people who want this mail, make it easy to unsubscribe, and say in each message why it is sent. Recipients who ' +
      'complained are suppressed already.',
  },
  'policy-deferrals': {
    cause: 'a provider defers much of it, because of its filters or limits',
    advice:
      'Send to this provider more slowly, and first to people who read this mail. Look at the replies of the provider in the event ' +
      'log: they often name the cause.',
  },
  'sudden-volume': {
    cause: 'the volume is much higher than in any hour of the month before',
    advice:
      'If this is your mail, nothing has to be done: it is sent more slowly. Otherwise an API key may be in the wrong hands: revoke it.',
  },
  'repeated-recipient': {
    cause: 'one recipient got the same message again and again',
    advice: 'Look for a loop in the program that sends it. Mail to other recipients is not affected.',
  },
  requirements: {
    cause: 'a sending domain lacks what Gmail, Yahoo or Microsoft demand of large senders',
    meaning:
      'It is accepted and waits until a check finds what is missing; it is dropped only if its lifetime ends before. Other mail is sent as before.',
    advice:
      'The page of each domain, and "GET /v2/domain/NAME", say what it lacks and which records to publish. Then have it checked again there. ' +
      'The account setting requirements decides whether such mail waits.',
  },
  operator: {
    cause: 'the operator of this service holds it',
    advice: 'Write to the operator of this service.',
  },
}

const FIGURES: Readonly<Record<string, string>> = {
  bounces: 'hard bounces',
  outcomes: 'deliveries and hard bounces together',
  complained: 'complaints',
  delivered: 'deliveries to providers that report complaints',
  deferred: 'attempts that were deferred because of a filter or limit, at the providers below',
  attempts: 'all attempts there',
  accepted: 'messages within an hour',
  busiestHour: 'messages in the busiest hour of the month before',
  messages: 'equal messages to one recipient',
  minutes: 'minutes in which they were sent',
  domains: 'sending domains whose bulk mail waits',
}

const LEVELS: Readonly<Record<HoldLevel, { readonly verb: string; readonly meaning: string }>> = {
  warned: {
    verb: 'may soon be slowed or held',
    meaning: 'This is a warning: mail is sent as before. If the figures become worse, it is slowed, and then held.',
  },
  slowed: {
    verb: 'is slowed',
    meaning:
      'It is sent with a limit per hour. What exceeds the limit waits, and nothing is lost until its lifetime ends.',
  },
  held: {
    verb: 'is held',
    meaning:
      'It is accepted and waits until it is released; it is dropped only if its lifetime ends before. The operator of this service can release it.',
  },
}

/** Returns the subject of the mail to the owner. */
export function noticeSubject({ accountId, name, level }: AccountNotice): string {
  return `Mail of the account ${name} (${accountId}) ${LEVELS[level].verb}`
}

/** Returns the lines of the mail to the owner: what happened, the figures, and what to do. */
export function noticeText({
  accountId,
  name,
  rule,
  level,
  classes,
  figures,
  createdAt,
  domains,
}: AccountNotice): string[] {
  const {
    cause,
    advice,
    meaning: own,
  }: RuleText = RULES[rule] ?? {
    cause: `of the rule ${rule}`,
    advice: 'Write to the operator of this service.',
  }
  const { verb, meaning } = LEVELS[level]
  const which = classes.length === 0 || classes.length === 3 ? 'Mail' : `${capitalized(classes.join(' and '))} mail`
  const lines = Object.entries(figures).map(([figure, value]) => `- ${figureText(figure, value)}`)
  return [
    `${which} of the account ${name} (${accountId}) ${verb}, because ${cause}.`,
    '',
    `Time: ${createdAt.toISOString()}`,
    `Rule: ${rule}`,
    ...(lines.length > 0 ? ['Figures:', ...lines] : []),
    ...(domains.length > 0 ? ['Domains:', ...domains.map((domain) => `- ${domain}`)] : []),
    '',
    own ?? meaning,
    '',
    advice,
    '',
    'There is at most one such notice per rule and day.',
  ]
}

function figureText(name: string, value: number): string {
  if (name === 'share') return `share: ${percent(value)}`
  const text = FIGURES[name]
  // The others are shares at the providers with these names.
  return text === undefined ? `${name}: ${percent(value)}` : `${text}: ${value}`
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
