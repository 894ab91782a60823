/**
 * Patterns without a proof: what bounds the time they take. `longest` characters is what they may meet at most; a test measures
 * them with that much.
 */
export interface Bound {
  readonly longest: number
  readonly why: string
  /** Made against this one; repeated to the bound. */
  readonly attack?: string
}

const REPLY = 'a reply is kept to 1,024 octets (smtp/reply-reader.ts)'
const OPERATOR = 'the operator wrote it'

export const BOUNDED: Readonly<Record<string, Bound>> = {
  '/^content-disposition:[^\\r\\n]*\\bname="?list-unsubscribe"?[\\s\\S]*?\\r?\\n\\r?\\n[ \\t]*one-click[ \\t]*\\r?$/im':
    {
      longest: 8192,
      why: 'the form has at most FORM_LIMIT octets',
      attack: 'content-disposition: name=list-unsubscribe\n',
    },
  '/;\\s*boundary=(?:"([^"]{1,256})"|([^\\s;,"]{1,256}))/i': { longest: 16_384, why: 'a header field of a request' },
  '/^[\\x21-\\x7e]{1,1000}$/': { longest: 1000, why: 'anchored, and every character has one way to match' },
  '/\\/+$/': { longest: 2048, why: OPERATOR },
  '/\\?.*$/': { longest: 2048, why: OPERATOR },
  '/%.*$/': { longest: 64, why: "a socket's address, or a text that Node found to be one" },
  '/(mailbox|quota|inbox|storage).{0,40}(\\bfull\\b|exceed|over\\s?(quota|limit))|over\\s?quota|out of storage/i': {
    longest: 1024,
    why: REPLY,
  },
  '/(account|mailbox|user).{0,40}\\b(disabled|inactive|suspended|locked|frozen)\\b|(account|mailbox) is blocked/i': {
    longest: 1024,
    why: REPLY,
  },
  '/(unknown|invalid|non-?existent).{0,20}(user|recipient|mailbox|address|account)|(user|recipient|mailbox|address|account).{0,30}(unknown|not found|does ?n.t (exist|have an?)|(does )?not exist|no such|unavailable)|not our user/i':
    { longest: 1024, why: REPLY },
  '/(message|size).{0,30}(too (big|large)|exceed)/i': { longest: 1024, why: REPLY },
  '/(?:try|retry|come back|available)\\s+(?:again\\s+)?(?:in|after)\\s+(?:(?:at least|about|another)\\s+)?(\\d{1,6})\\s*(s|sec|second|m|min|minute|h|hour)s?\\b/i':
    { longest: 1024, why: REPLY },
  '/(?:greylist|graylist)\\w{0,8}\\D{0,40}?(\\d{1,6})\\s*(s|sec|second|m|min|minute|h|hour)s?\\b/i': {
    longest: 1024,
    why: REPLY,
    attack: 'greylist',
  },
  '/(?<=^|\\n)(content-[^\\r\\n:]*):([^\\r]*(?:\\r(?!\\n[^ \\t]|\\n?$)[^\\r]*)*)\\r\\n/gi': {
    longest: 1024 * 1024,
    why: 'the head of a part (LONGEST_HEAD); begins at line starts only, and each character has one way to match',
    attack: '\ncontent-a:\r',
  },
  '/(?:wait|delay(?:ed)?)\\s+(?:(?:for|at least|about|another)\\s+)*(\\d{1,6})\\s*(s|sec|second|m|min|minute|h|hour)s?\\b/i':
    {
      longest: 1024,
      why: REPLY,
    },
  '/(?:try again|retry|come back)\\s+(?:in|after)\\s+(\\d{1,2}):(\\d{2}):(\\d{2})/i': { longest: 1024, why: REPLY },
  '/^[!-;=?-~]([ -;=?-~]{0,253}[!-;=?-~])?$/': {
    longest: 1_000_000,
    why: 'anchored; goes back over 255 characters once',
  },
  '/^<[!-;=?-~]{1,400}@[!-;=?-~]{1,400}>$/': {
    longest: 1_000_000,
    why: 'anchored; of the first 400 characters each may be the @, and 400 more are looked at for it',
  },
  '/.{999}/': {
    longest: 8192,
    why: 'a field of a composed message; texts for one have at most LIMITS.headerText characters',
  },
  '/.{72}(?=.)/g': { longest: 1024, why: 'a signature in base64' },
  "new RegExp(`(?:${one.source})+`, 'gi')": {
    longest: 16_384,
    why: 'a part head; made of one of two escapes of three characters, each of which has one way to match',
  },
  'new RegExp(`^${label}(\\\\.${label})*$`)': { longest: 253, why: 'the length is asked first' },
  "new RegExp(`\\\\[%\\\\s{0,16}${UNSUBSCRIBE_TAG}\\\\s{0,16}%\\\\]`, 'gi')": {
    longest: 41 * 1024 * 1024,
    why: 'made of one fixed name; 16 blanks are looked at for each [%',
  },
}
