import { IDENTITY_SETTINGS } from './identity-settings.ts'
import { PEOPLE_SETTINGS } from './people-settings.ts'
import { PROCESS_SETTINGS } from './process-settings.ts'
import type { Setting } from './setting.ts'
import { STORAGE_SETTINGS } from './storage-settings.ts'
import { WATCH_SETTINGS } from './watch-settings.ts'

/**
 * All settings with their descriptions and defaults, in the order of .env.example, which a test compares with this
 * list.
 */
export const SETTINGS: readonly Setting[] = [
  ...STORAGE_SETTINGS,
  { name: 'API_HOST', default: '127.0.0.1', meaning: 'IP address or host name that the Web API listens on.' },
  { name: 'API_PORT', default: '8080', meaning: 'Port of the Web API.' },
  {
    name: 'MCP',
    default: 'off',
    meaning: 'on: agents may use tools with API keys, at /mcp (Model Context Protocol); off: /mcp is not served.',
  },
  ...WATCH_SETTINGS,
  ...PROCESS_SETTINGS,
  { name: 'RELAY_HOST', default: '127.0.0.1', meaning: 'IP address or host name that the SMTP relay listens on.' },
  { name: 'RELAY_PORT', default: '2525', meaning: 'Port of the SMTP relay with STARTTLS.' },
  { name: 'RELAY_TLS_PORT', default: '2465', meaning: 'Port of the SMTP relay with implicit TLS.' },
  {
    name: 'RETURNS_HOST',
    default: '127.0.0.1',
    meaning:
      'IP address or host name at which mail to return paths is received, and to which the sandbox inbox sends its reports.',
  },
  {
    name: 'RETURNS_PORT',
    default: '2527',
    meaning: 'SMTP port at which mail to return paths is received. Servers on the internet use port 25.',
  },
  {
    name: 'RETURN_DAYS',
    default: '30',
    meaning: 'Days that received bounce reports, complaints and letters are stored (1 to 365).',
  },
  {
    name: 'REPORT_DAYS',
    default: '90',
    meaning: 'Days that received DMARC and TLS reports are stored (20 to 730).',
  },
  {
    name: 'RELAY_TRUSTED_NETWORKS',
    default: '',
    meaning:
      'IP addresses or networks whose SMTP clients may send without AUTH, comma-separated; for programs that cannot authenticate. ' +
      'If empty, all clients must authenticate.',
  },
  {
    name: 'RELAY_TRUSTED_KEY',
    isSecret: true,
    default: '',
    meaning: 'API key used for mail from RELAY_TRUSTED_NETWORKS. Requires the scope send.',
  },
  {
    name: 'TLS_CERT',
    default: '',
    meaning: 'File with the certificate chain (PEM). If empty, a self-signed certificate is created in DATA_DIR.',
  },
  { name: 'TLS_KEY', default: '', meaning: 'File with the private key of TLS_CERT (PEM).' },
  {
    name: 'SANDBOX_HOST',
    default: '127.0.0.1',
    meaning: 'IP address or host name that the sandbox inbox listens on, and that DELIVERY=sandbox delivers to.',
  },
  { name: 'SANDBOX_SMTP_PORT', default: '2526', meaning: 'SMTP port of the sandbox inbox.' },
  { name: 'SANDBOX_HTTP_PORT', default: '8025', meaning: 'HTTP port of the sandbox inbox.' },
  {
    name: 'SANDBOX_NAMES',
    default: '',
    meaning:
      'Host names that the sandbox inbox accepts over HTTP in addition to localhost and SANDBOX_HOST, comma-separated.',
  },
  {
    name: 'SANDBOX_REQUESTS',
    default: 'refuse',
    meaning:
      'allow: the sandbox inbox requests links of messages and unsubscribes by one click when its user asks for it, at hosts that webhooks may ' +
      'have; refuse: it only unsubscribes at PUBLIC_URL.',
  },
  {
    name: 'SANDBOX_RELAY_URL',
    isSecret: true,
    default: '',
    meaning:
      'SMTP server through which the sandbox inbox releases a message when its user asks for it (smtp://user:pass@host:port). ' +
      'If empty, no message leaves it.',
  },
  {
    name: 'SANDBOX_RELAY_TO',
    default: '',
    meaning:
      'Addresses and domains (@example.com) that the sandbox inbox may release messages to, comma-separated. Required with SANDBOX_RELAY_URL: ' +
      'the inbox has no password.',
  },
  {
    name: 'DELIVERY',
    default: 'sandbox',
    meaning:
      "sandbox: deliver to the sandbox inbox, so that no mail leaves the machine; mx: deliver to the recipients' servers; " +
      'smtp://user:pass@host:port (or smtps://): deliver through a relay host.',
  },
  {
    name: 'DNS_SERVERS',
    default: '',
    meaning: 'DNS resolvers, comma-separated, each as address or address:port. If empty, those of the system.',
  },
  {
    name: 'DNSSEC_RESOLVER',
    default: '',
    meaning:
      'Resolver that validates DNSSEC, on this host or a private network, as address or address:port. With it and DELIVERY=mx, ' +
      'DANE (RFC 7672) is used. If empty, there is no DANE.',
  },
  {
    name: 'BLOCK_LISTS',
    default: '(built-in lists)',
    meaning:
      'DNS block lists in which source addresses are looked up every 30 minutes, comma-separated; none: no lookups. The built-in ' +
      'lists are zen.spamhaus.org, b.barracudacentral.org, bl.spamcop.net, bl.mailspike.net and psbl.surriel.com. Nothing is ' +
      'looked up with DELIVERY=sandbox, nor for private addresses.',
  },
  {
    name: 'SPAMHAUS_KEY',
    isSecret: true,
    default: '',
    meaning:
      "Key of Spamhaus' Data Query Service, which is used for zen.spamhaus.org. Without it, Spamhaus does not answer public resolvers.",
  },
  ...IDENTITY_SETTINGS,
  {
    name: 'DOMAIN_GRACE_HOURS',
    default: '72',
    meaning: 'Hours a sending domain stays active after its DNS records stop being valid.',
  },
  {
    name: 'PUBLIC_URL',
    default: 'http://localhost:API_PORT',
    meaning:
      'URL under which the API is reached from outside. Open, click and unsubscribe links use it too. With a path, such as ' +
      'https://example.com/mail, the service shares a host with other programs. See docs/reverse-proxy.md.',
  },
  {
    name: 'TRACKING_SCHEME',
    default: '(scheme of PUBLIC_URL)',
    meaning:
      "Scheme of the accounts' custom tracking hosts: http or https. https requires a certificate for each of them.",
  },
  {
    name: 'TRUST_PROXY',
    default: '',
    meaning:
      'IP addresses or networks of reverse proxies whose X-Forwarded-For is trusted, and of load balancers whose connections the ' +
      'relay does not count as those of one client, comma-separated.',
  },
  {
    name: 'OPERATOR_NETWORKS',
    default: '127.0.0.0/8, ::1',
    meaning:
      'IP addresses or networks from which /operator/v1 can be reached with an operator key, comma-separated. Behind a reverse proxy, TRUST_PROXY must be set.',
  },
  {
    name: 'LOG_LEVEL',
    default: 'info',
    meaning: 'Lowest level to log: trace, debug, info, warn, error, fatal or silent.',
  },
  {
    name: 'LOG_FORMAT',
    default: 'json; with npm start on a terminal: pretty',
    meaning:
      'json: a line of JSON for each event; pretty: lines for people. If it is set to json, npm start prints only such lines, and no keys or links.',
  },
  {
    name: 'LOG_DELIVERIES',
    default: 'all',
    meaning:
      'Which outcomes of delivery attempts are logged at the level info: all, failures or none. At 600 messages per second, all is 150 MB per hour.',
  },
  {
    name: 'LOG_MESSAGES',
    default: '0',
    meaning:
      '1: a line at the level info for each accepted message, with its id, account, entry point, number of recipients and octets. With LOG_DELIVERIES ' +
      'the log then follows each message to its outcomes, without addresses and texts; npm start logs at info, too.',
  },
  {
    name: 'BODY_BUDGET_MB',
    default: '128',
    meaning:
      'Megabytes of message bodies that one process holds in memory. Templates and uploaded files that messages use may take the ' +
      'same amount again. Beyond that, mail is temporarily rejected (503, 452).',
  },
  {
    name: 'ATTACHMENT_STORAGE_MB',
    default: '1024',
    meaning: 'Megabytes of uploaded files that one account may store.',
  },
  {
    name: 'CALLS_PER_MINUTE',
    default: '600',
    meaning:
      'Maximum API calls per account and minute, not counting sendEmail. "postrider account limit" overrides it for an account. 0 means unlimited.',
  },
  {
    name: 'WRONG_KEYS_PER_MINUTE',
    default: '10',
    meaning:
      'Invalid API keys allowed per minute from one IP address, counted over all processes; more get 429. 0 means unlimited.',
  },
  {
    name: 'SITE_CONNECTIONS',
    default: '10',
    meaning:
      'Maximum connections of all workers together to one site (the domains with the same MX hosts), unless it belongs to a provider of PROVIDERS_FILE.',
  },
  {
    name: 'PROVIDERS_FILE',
    default: '',
    meaning:
      'File with limits and back-off rules of mailbox providers (YAML), which replace built-in entries of the same name and add ' +
      'others. The format is explained in packages/core/src/delivery/providers/providers.yaml. If empty, only the built-in entries are used.',
  },
  {
    name: 'SUPPRESSION_HARDBOUNCE_DAYS',
    default: '0',
    meaning:
      'Days an address stays suppressed after a server reported that its mailbox does not exist. 0 means until the entry is removed.',
  },
  {
    name: 'REPUTATION_RULES',
    default: '',
    meaning:
      'What follows when much mail of an account bounces or is complained about: standard (it is slowed or held), strict (at half ' +
      'of the shares) or none (warnings only). `postrider account rules` sets it for one account. Default: standard, and none ' +
      'with DELIVERY=sandbox. See docs/reputation.md.',
  },
  {
    name: 'REQUIREMENTS',
    default: 'warn',
    meaning:
      'What follows for bulk mail without what Gmail, Yahoo or Microsoft demand of large senders: warn (it is sent, and the domain is shown ' +
      'as lacking) or hold (it waits until the domain has it). An account may set it for its own mail. See docs/reputation.md.',
  },
  {
    name: 'EVENT_DAYS',
    default: '90',
    meaning:
      'Maximum retention of events, and of messages with their outcomes, in days; at least 7, in whole weeks. An account may set a ' +
      'shorter retention for its events. Statistics are kept.',
  },
  {
    name: 'BODY_DAYS',
    default: '30',
    meaning:
      'Maximum retention of message bodies in days; at least 7, in whole weeks. An account may set a shorter retention. Bodies of ' +
      'messages that are still queued are kept.',
  },
  {
    name: 'EXPORT_STORAGE_MB',
    default: '2048',
    meaning: 'Megabytes of compressed export files that one account may store; each file is kept for 7 days.',
  },
  ...PEOPLE_SETTINGS,
  {
    name: 'MX_PORT',
    default: '25',
    meaning: "Port of the recipients' servers with DELIVERY=mx. Change it for tests only.",
  },
  {
    name: 'MX_PRIVATE_NETWORKS',
    default: 'refuse',
    meaning:
      "With DELIVERY=mx: allow or refuse delivery to recipients' servers on loopback, private and link-local addresses. Allow it " +
      "for tests, or if all recipients are internal: the MX records are chosen by the owner of the recipient's domain.",
  },
  {
    name: 'WEBHOOK_PRIVATE_NETWORKS',
    default: 'refuse; allow with "postrider up" and DELIVERY=sandbox',
    meaning:
      'Whether webhook and callback URLs may point to hosts on loopback, private and link-local addresses: allow, refuse, or a ' +
      'comma-separated list of allowed networks.',
  },
  {
    name: 'WEBHOOK_PORTS',
    default: '80,443; any with WEBHOOK_PRIVATE_NETWORKS=allow',
    meaning: 'Ports that webhook and callback URLs may use, comma-separated.',
  },
  {
    name: 'ALLOW_UNSAFE_DATABASE',
    default: '',
    meaning:
      '1: run on a database with fsync, full_page_writes or synchronous_commit off. For tests only, since mail can be lost.',
  },
]
