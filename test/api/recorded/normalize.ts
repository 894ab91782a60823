/** Start of the service's clock, so that the days in answers are the same in every run. */
export const NOW = new Date('2026-03-04T12:00:05Z')

/** Values that differ from run to run. They are numbered by kind, in order of appearance: `<key 1>`. */
const VOLATILE = new RegExp(
  [
    String.raw`(?<key>\bpr_[0-9A-Za-z]{33}\b)`,
    String.raw`(?<prefix>\bpr_[0-9A-Za-z]{6}\b)`,
    '(?<pem>-----BEGIN(?: |%20)PRIVATE.*?PRIVATE(?: |%20)KEY-----)',
    String.raw`(?<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)`,
    '(?<hex>(?<![0-9A-Za-z])(?:[0-9a-f]{32}){1,2}(?![0-9A-Za-z]))',
    // Changes with each change of a guide.
    String.raw`(?<page>(?<=etag: W/")[\w-]{16}(?="))`,
    String.raw`(?<message>(?<=x-message-id: )[\w-]{22}(?![\w-]))`,
    String.raw`(?<batch>(?<="batch_id":"|/mail/batch/|/scheduled_sends/)[\w-]{24}(?![\w-]))`,
    // Each connection takes 32 of these ids at once.
    String.raw`(?<event>(?<="number":\d+,"id":")\d+|(?<=\{"id":")\d+(?=","type":)|(?<=\bevt_)\d+)`,
    String.raw`(?<token>(?:whsec_|(?<=; p=|","))[\w+/]{40,}={0,2}|(?<![\w+-]|\/v3\/[\w+/-]*)(?!v3\/)(?=[\w+/-]*[0-9])(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[\w+-][\w+/-]{39,}={0,2})`,
    String.raw`(?<tag>(?<=\bpr\d+-(?:ed-)?)[a-z0-9]{6}\b)`,
    String.raw`(?<number>(?<![\w.])\d{14,20}(?![\w.]))`,
  ].join('|'),
  'gs',
)
/** Of credits. Their month is that of the process, whose clock is not moved. */
const LAST_RESET = /(?<="last_reset":")\d{4}-\d\d-\d\d/g
const NEXT_RESET = /(?<="next_reset":")\d{4}-\d\d-\d\d/g
const HOUR = 3_600_000
const MOST_HOURS = 9000
/** Maximum duration of a run, in milliseconds. */
const RUN = 600_000

/** Returns a function that replaces what differs from run to run by names: `known` and VOLATILE values, times and durations. */
export function createNormalizer(known: Readonly<Record<string, string>>): (text: string) => string {
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  const nameOf = (kind: string, value: string): string => {
    const known = names.get(`${kind} ${value}`)
    if (known !== undefined) return known
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    const name = `<${kind} ${count}>`
    names.set(`${kind} ${value}`, name)
    return name
  }
  return (text) => {
    let plain = text
    for (const [value, name] of Object.entries(known)) {
      plain = plain.replaceAll(value, name).replaceAll(encodeURIComponent(value), name)
    }
    return (
      plain
        // Of the first message of the account, which is older than the run.
        .replace(/(?<="searchedFrom":")[^"]+/g, '<time>')
        // Of the clock, compared with that of the world.
        .replace(/(?<="ahead":)-?\d+/g, '0')
        .replace(/\b\d{4}-\d\d-\d\d([T ])(\d\d:\d\d:\d\d)(\.\d+)?(Z?)/g, (time, between, _clock, fraction, zone) =>
          named(
            Date.parse(`${time.slice(0, 10)}T${time.slice(11, 19)}Z`),
            `${between === ' ' ? ' with a blank' : ''}${fraction ? ' with a fraction' : ''}${zone}`,
            time,
          ),
        )
        .replace(/(?<![\w.])\d{10}(\d{3})?(?![\w.])/g, (time, milliseconds) =>
          named(Number(milliseconds ? time : `${time}000`), ` in ${milliseconds ? 'milli' : ''}seconds`, time),
        )
        .replace(/\b\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000/g, (time) =>
          named(Date.parse(time), ' in a header', time),
        )
        .replace(/(?<=retry-after: |Retry after )\d{3,4}\b/g, '<seconds>')
        .replace(/(?<="commit":)(?:"[0-9a-f]{12}"|null),"schema":\d+/g, '<commit>,"schema":<number>')
        .replace(/(?<="milliseconds":)\d+|(?<="left":)\d{6,}(?:\.\d+)?/g, '<milliseconds>')
        .replace(LAST_RESET, '<first of this month>')
        .replace(NEXT_RESET, '<first of the next month>')
        .replace(/\b\d\d:\d\d UTC\b/g, '<minute>')
        .replace(/<style>[^<]*<\/style>/g, '<style>…</style>')
        .replace(/(?<=style-src 'sha256-)[^']+/g, '…')
        .replace(/(?<=Unsubscribed on )\d+ \w+ \d{4}/g, '<date>')
        .replace(/(?<="p\d\d":)[\d.]+/g, '<seconds>')
        .replace(VOLATILE, (value, ...rest) => {
          const groups = rest.at(-1) as Record<string, string | undefined>
          const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? ''
          return nameOf(kind, value)
        })
    )
  }
}

/**
 * Returns `<now>` for a time during the run, `<now + 24 h>` for one that many full hours later, `<now - 1 h>` and `<now + 10 min>` for these two,
 * and `text` for any other.
 */
function named(time: number, form: string, text: string): string {
  const since = time - NOW.getTime()
  const hours = Math.floor(since / HOUR)
  if (since > RUN && since <= 2 * RUN) return `<now + 10 min${form}>`
  if (hours < -1 || hours > MOST_HOURS || since - hours * HOUR > RUN) return text
  return `<now${hours === 0 ? '' : ` ${hours < 0 ? '-' : '+'} ${Math.abs(hours)} h`}${form}>`
}
