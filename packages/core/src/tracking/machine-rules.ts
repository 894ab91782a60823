/**
 * Who is a machine: rules as data, for people to read and to add to. The first that fits is named in the event, with the version
 * of this list: counts of two versions are not compared blindly.
 */
export const MACHINE_RULES_VERSION = 1

/** A rule for one request alone. */
export interface MachineRule {
  /** As events name it. */
  readonly name: string
  readonly meaning: string
  readonly method?: RegExp
  /** A header field and what it says; the field in lower case. */
  readonly header?: readonly [name: string, value: RegExp]
  readonly userAgent?: RegExp
}

/** In the order they are asked in. */
export const REQUEST_RULES: readonly MachineRule[] = [
  { name: 'head', meaning: 'asks whether the link is there, and not for what it shows', method: /^HEAD$/ },
  ...['purpose', 'sec-purpose', 'x-purpose', 'x-moz'].map(
    (field): MachineRule => ({
      name: 'prefetch',
      meaning: 'a browser or proxy that fetches ahead, before anybody has looked or clicked',
      header: [field, /\b(prefetch|preview|prerender)\b/i],
    }),
  ),
  { name: 'no-user-agent', meaning: 'no mail program or browser leaves its name out', userAgent: /^\s*$/ },
  {
    name: 'prefetcher',
    // Apple's proxy of Mail Privacy Protection says no more than this, and fetches whether anybody reads or not.
    meaning: 'Apple Mail Privacy Protection, which fetches all images when mail arrives',
    userAgent: /^Mozilla\/5\.0$/,
  },
  {
    name: 'prefetcher',
    // Not GoogleImageProxy, which fetches when a person opens the message, once, and counts as that person.
    meaning: 'Gmail as it fetches ahead of any reader: a browser that never was',
    userAgent: /Edge\/12\.246 Mozilla\/5\.0$/,
  },
  {
    name: 'gateway',
    meaning: 'security gateways that follow the links of mail before it is delivered, or when it is clicked',
    userAgent:
      /barracuda|proofpoint|mimecast|symantec|messagelabs|fireeye|trellix|trend ?micro|forcepoint|websense|sophos|zscaler|fortinet|fortiguard|cisco.?(ironport|talos)|ironport|checkpoint|check point|kaspersky|bitdefender|avanan|vade ?secure|hornetsecurity|safelinks|googlesafebrowsing|paloalto|palo alto|netcraft|phishtank|urlscan|virustotal/i,
  },
  {
    name: 'preview',
    meaning: 'chat programs and social networks that show a link to those it was sent to',
    userAgent:
      /facebookexternalhit|facebot|twitterbot|linkedinbot|slackbot|slack-imgproxy|discordbot|telegrambot|whatsapp\/|skypeuripreview|redditbot|viberbot|line-poker|iframely|embedly/i,
  },
  {
    name: 'bot',
    meaning: 'programs and crawlers that say what they are',
    userAgent:
      // Cubot makes telephones.
      /(?<!cu)bot\b|crawl|spider|scan(ner|\b)|headlesschrome|phantomjs|puppeteer|playwright|selenium|monitor\b|uptime|pingdom|^(curl|wget|python|java|go-http-client|okhttp|axios|node|undici|libwww|lwp|php|ruby|perl|apache-httpclient|httpclient|guzzle|http_request|winhttp|restsharp|postmanruntime|aiohttp|httpx|scrapy)\b/i,
  },
]

/** Rules for what is known of the delivery and of what else was asked for; judged in judge.ts, after {@link REQUEST_RULES}. */
export const DELIVERY_RULES = {
  soon: {
    meaning: 'before its server had said that it took the message, or within seconds of it: nobody reads so quickly',
    seconds: 5,
  },
  links: {
    meaning: 'several different links of one message at once: a person follows one',
    seconds: 2,
  },
} as const

export interface TrackingRequest {
  readonly method: string
  /** In lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** The rule that takes this request for a machine's; undefined: none that can be told from the request alone. */
export function machineRule({ method, headers }: TrackingRequest): string | undefined {
  const said = (name: string): string => String(headers[name] ?? '')
  return REQUEST_RULES.find(
    (rule) =>
      rule.method?.test(method) ||
      rule.header?.[1].test(said(rule.header[0])) ||
      rule.userAgent?.test(said('user-agent').slice(0, USER_AGENT_LOOKED_AT)),
  )?.name
}

/** Characters; nothing but an attack on these expressions is longer. */
const USER_AGENT_LOOKED_AT = 1000
