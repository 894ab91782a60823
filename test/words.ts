/** A fault of language, found by a regular expression. */
export interface WordPattern {
  /** What to write instead. */
  readonly instead: string
  /** Matched line by line. Narrow enough that idiomatic English does not match. */
  readonly pattern: RegExp
  /** A line that must match. */
  readonly bad: string
  /** A line of similar words that must not match. */
  readonly good: string
}

/** What comes before the first word of a sentence in a comment, document, table cell or string. */
const START = '(?:/\\*\\*|//|^ *--|^ *\\*|[.:;] |\\| |[\'"`])\\s?'

/**
 * Wordings that readers stumble over. Patterns without the flag i match a capital letter at the beginning of a sentence, or an
 * identifier.
 */
export const WORD_PATTERNS: readonly WordPattern[] = [
  {
    instead: '"is not a valid …", "is absent"',
    pattern:
      /\b(?:that|which|it|what|one|they|them) (?:is|are|be|was|were) no(?:ne)?\b(?! (?:longer|more|fewer|less|later)\b)/i,
    bad: 'A type that is no type: 400',
    good: 'null if it is no longer stored',
  },
  {
    instead: 'the role: "the client", "the owner", "no other …"',
    pattern: /(?<!`)\b(?:[Ww]hoever|[Ss]omebody|[Nn]obody)\b(?!`)/,
    bad: 'blocks suppress nobody',
    good: 'it runs as the real user `nobody`',
  },
  {
    instead: 'report, notify, show',
    pattern: /\b(?:tells?|told|telling) (?:of|it|them|that|apart|what|whether|why)\b/i,
    bad: 'its sender is told why',
    good: 'the telling example',
  },
  {
    instead: 'is in, is at, replaces',
    pattern: /\b(?:stands?|stood|standing) (?:in|there|here|beside|behind|apart|as|at|first|second)\b/i,
    bad: 'the rows stand in a table',
    good: '0 stands for all accounts',
  },
  {
    instead: 'by default, "unless it is …"',
    pattern: /\bunless (?:told|said|\w+ is said)\b/i,
    bad: '100 unless told',
    good: 'private unless it is shared',
  },
  {
    instead: 'again, permanently, no longer',
    pattern: /\b(?:anew|aloud|by and by|for good|in earnest)\b|\b(?:any|no) more(?=[.,;:)|]|$)/i,
    bad: 'the version is not active any more.',
    good: 'at most four, and no more than one at a time',
  },
  {
    instead: 'the number or the limit',
    pattern: /\bso (?:many|much)\b(?! (?:\w+ )?that\b)/i,
    bad: 'a call reports so many errors',
    good: 'so many connections that the limit is reached',
  },
  {
    instead: 'the recipient, they',
    pattern: /\b(?:him|himself|his|hers?|herself)\b/i,
    bad: 'notifies him at his address',
    good: 'this is the history of the message',
  },
  {
    instead: 'unchanged, "as received"',
    pattern: /\bas (?:it|they) (?:came|stands?)\b/i,
    bad: 'addresses are echoed as they came',
    good: 'returns the reply as it was sent',
  },
  {
    instead: 'a predicate without "it": "must be a string"',
    pattern: /["'`]it (?:must|is|has|may|can|cannot|lacks|answered|breaks|leads|needs|does)\b/,
    bad: "problem: 'it must be a string'",
    good: "problem: 'must be a string; it is empty'",
  },
  {
    instead: '"… not found", "no …"',
    pattern: /["'`]there (?:is|are) no\b|: there (?:is|are) no\b/i,
    bad: "throw new CommandError('there is no such key')",
    good: 'null if there is no such key',
  },
  {
    instead: 'correct, hot, in flight, presumed dead, end of data',
    pattern:
      /\b(?:mend(?:s|ed|ing)?|purse|hungry|in hand|taken for (?:dead|lost|good|as good))\b|\b(?:sends?|writes?|sent|after) the dot\b|\bthe dot (?:is|was|has)\b/i,
    bad: 'it does not send the dot',
    good: 'doubles the dot at the start of a line',
  },
  {
    instead: 'lookup, timeout, rollup, throwaway',
    pattern: /(?<!\/)\b(?:look-ups?|time-outs?|roll-ups?|throw-away)\b(?!\.ts)/i,
    bad: 'a lock time-out of 5 s',
    good: "import { lookUp } from './look-up.ts'",
  },
  {
    instead: 'cannot, do not, is not, does not',
    pattern: /\bcan not\b|\b(?:can|don|isn|aren|doesn|won|couldn|wasn)['’]t\b/i,
    bad: 'accepts don’t wait',
    good: 'it cannot and does not',
  },
  {
    instead: 'except, next to, while',
    pattern: /\bbut for\b|\bbeside (?:the|an?|its?|their|them|those|other|each|every|what|this|that|more|run)\b/i,
    bad: 'do not run it beside the original',
    good: 'return { data, beside: { totalRecords } }',
  },
  {
    instead: 'requested, returned',
    pattern: /\basked (?:for|again|which|what)\b|\banswered (?:\d|with|as|by)/i,
    bad: 'signing is off until it is asked for',
    good: 'the earlier request is answered first',
  },
  {
    instead: 'valid, invalid',
    pattern: /\b(?:good|wrong) (?:keys?|rows?|values?|ids?)\b/i,
    bad: 'the tenth wrong key ends a session',
    good: 'a good reason for a wrong order',
  },
  {
    instead: 'per: "bytes per row"',
    pattern:
      /\b(?:octets|bytes|calls|messages|mails|rows|recipients|events|requests|deliveries|probes?) an? (?:row|message|call|account|second|minute|hour|day|transaction|request|delivery|batch|bounce|webhook|file)\b(?! (?:may|can|has|must|is|are|was)\b)/i,
    bad: 'at most 100 events a request',
    good: 'how many recipients an account may send to',
  },
  {
    instead: 'a sentence with a subject: "The owner of …", "If several …"',
    pattern: new RegExp(
      `${START}(?:Of (?:who|what)\\w*|Whose|Whatever|Whichever) [a-z]|${START}Of [a-z][^,.]*\\.(?: |$)`,
    ),
    bad: '  // Of duplicate attributes the first one counts.',
    good: '  // Of duplicate attributes, the first one counts.',
  },
  {
    instead: 'a noun phrase: "Permissions of a key"',
    pattern: /(?:\/\*\*|\/\/|^ *\*) (?:What|Who) [a-z]/,
    bad: '  /** What follows the name */',
    good: '  /** Arguments after the name, for what follows */',
  },
  {
    instead: 'a condition: "If empty, …"',
    pattern: /\b(?:Empty|None|Null|Undefined): [a-z]/,
    bad: '/** Names of events. None: all. */',
    good: '/** Names of events; if empty, all. */',
  },
  {
    instead: 'MAX_, MIN_, MAX_X_LENGTH, MAX_DEPTH, RETENTION_, RESERVED',
    pattern: /\b(?:MOST|LEAST|LONGEST|DEEPEST|HIGHEST|KEPT|TOLD|SHOWN|OURS)(?:_[A-Z_]+)?\b/,
    bad: 'export const MOST_ROWS = 100',
    good: 'export const MAX_ROWS = 100 // ALMOST_ALL',
  },
]

/** The problem of an invalid parameter follows "Parameter [x] is invalid: ", so it has no subject. Matched over whole files. */
export const PROBLEM_WITH_SUBJECT = /\binvalidParameter\(\s*[^()]*?,\s*["'`]it\b/gi

/**
 * Lines that match a pattern and stay, as `path: text of the line`. An entry that no longer occurs fails the test, so the list only
 * shrinks.
 */
export const ALLOWED: readonly string[] = [
  // Fixed by the v3 contract.
  'docs/contract-v3.md: Header can not be one of the reserved keys.',
  'docs/contract-v3.md: Categories can not contain non-ASCII characters.',
  'packages/api/src/v3/mail-send/rules.ts: Header can not be one of the reserved keys.',
  'packages/api/src/v3/mail-send/rules.ts: Categories can not contain non-ASCII characters.',
  // The name of a rate limit, as it is stored in the database.
  'packages/core/src/accounts/keys/invalid-key-throttle.ts: name: `wrong keys',
  'packages/core/src/index.ts: MAX_KEY_UNITS as MOST_KEY_UNITS',
  'packages/delivery/src/smtp/session.ts: static readonly MOST = 10_000',
  'packages/delivery/src/smtp/session.ts: HostMemory.MOST',
]
