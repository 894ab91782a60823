/**
 * Version of the rules that detect machines. An event contains the first matching rule and this version, because counts of
 * different versions are not comparable.
 */
export const MACHINE_RULES_VERSION = 1

/** A rule that needs nothing but the request. */
export interface MachineRule {
  /** The name in events. */
  readonly name: string
  readonly meaning: string
  readonly method?: RegExp
  /** Name of a header field in lower case, and a pattern of its value. */
  readonly header?: readonly [name: string, value: RegExp]
  readonly userAgent?: RegExp
}

/** The request rules in order; the first match wins. */
export const REQUEST_RULES: readonly MachineRule[] = [
  { name: 'head', meaning: 'checks that the link exists, without fetching its content', method: /^HEAD$/ },
  ...['purpose', 'sec-purpose', 'x-purpose', 'x-moz'].map(
    (field): MachineRule => ({
      name: 'prefetch',
      meaning: 'a browser or proxy that prefetches, before a human opens or clicks',
      header: [field, /\b(prefetch|preview|prerender)\b/i],
    }),
  ),
  { name: 'no-user-agent', meaning: 'every mail client and browser sends a User-Agent', userAgent: /^\s*$/ },
  {
    name: 'prefetcher',
    // The proxy of Apple Mail Privacy Protection sends exactly this, and fetches images whether or not the mail is opened.
    meaning: 'Apple Mail Privacy Protection, which fetches all images when mail arrives',
    userAgent: /^Mozilla\/5\.0$/,
  },
  {
    name: 'prefetcher',
    // Not GoogleImageProxy, which fetches once, when a human opens the message, and counts as human.
    meaning: 'Gmail prefetching images, with the User-Agent of a browser that never existed',
    userAgent: /Edge\/12\.246 Mozilla\/5\.0$/,
  },
  {
    name: 'gateway',
    meaning: 'security gateways that follow links before mail is delivered, or when a link is clicked',
    userAgent:
      /barracuda|proofpoint|mimecast|symantec|messagelabs|fireeye|trellix|trend ?micro|forcepoint|websense|sophos|zscaler|fortinet|fortiguard|cisco.?(ironport|talos)|ironport|checkpoint|check point|kaspersky|bitdefender|avanan|vade ?secure|hornetsecurity|safelinks|googlesafebrowsing|paloalto|palo alto|netcraft|phishtank|urlscan|virustotal/i,
  },
  {
    name: 'preview',
    meaning: 'chat clients and social networks that show a preview of a link',
    userAgent:
      /facebookexternalhit|facebot|twitterbot|linkedinbot|slackbot|slack-imgproxy|discordbot|telegrambot|whatsapp\/|skypeuripreview|redditbot|viberbot|line-poker|iframely|embedly/i,
  },
  {
    name: 'bot',
    meaning: 'programs and crawlers that identify themselves',
    userAgent:
      // Cubot is a manufacturer of phones.
      /(?<!cu)bot\b|crawl|spider|scan(ner|\b)|headlesschrome|phantomjs|puppeteer|playwright|selenium|monitor\b|uptime|pingdom|^(curl|wget|python|java|go-http-client|okhttp|axios|node|undici|libwww|lwp|php|ruby|perl|apache-httpclient|httpclient|guzzle|http_request|winhttp|restsharp|postmanruntime|aiohttp|httpx|scrapy)\b/i,
  },
]

/** Rules that need the delivery and its other hits; applied in classify-hits.ts after {@link REQUEST_RULES}. */
export const DELIVERY_RULES = {
  soon: {
    meaning: 'before the server accepted the message, or within seconds of that: faster than a human reads',
    seconds: 5,
  },
  links: {
    meaning: 'several different links of one message at the same time: a human follows one',
    seconds: 2,
  },
} as const

export interface TrackingRequest {
  readonly method: string
  /** Names in lower case, as in Node. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** Returns the name of the first rule that matches the request; undefined if none does. */
export function machineRule({ method, headers }: TrackingRequest): string | undefined {
  const header = (name: string): string => String(headers[name] ?? '')
  return REQUEST_RULES.find(
    (rule) =>
      rule.method?.test(method) ||
      rule.header?.[1].test(header(rule.header[0])) ||
      rule.userAgent?.test(header('user-agent').slice(0, MAX_MATCHED)),
  )?.name
}

/** Characters of a User-Agent that are matched. Only attacks on these expressions are longer. */
const MAX_MATCHED = 1000
