/** Every setting with its sentence and default, in the order of .env.example, which a test holds against this list. */
export const SETTINGS: readonly { name: string; default: string; meaning: string }[] = [
  {
    name: 'DATABASE_URL',
    default: '',
    meaning: 'The Postgres to use (15 or newer). Empty: an embedded one in DATA_DIR.',
  },
  { name: 'DATA_DIR', default: './data', meaning: 'Embedded database, keys, certificate and inbox live here.' },
  {
    name: 'SECRET_KEY',
    default: '',
    meaning:
      'At least 32 characters; encrypts DKIM keys and signs return paths. Every host of one database needs the same. Empty: made once in DATA_DIR/secret-key.',
  },
  { name: 'API_HOST', default: '127.0.0.1', meaning: 'Address the Web API listens on.' },
  { name: 'API_PORT', default: '8080', meaning: 'Port of the Web API.' },
  { name: 'RELAY_HOST', default: '127.0.0.1', meaning: 'Address the SMTP relay listens on.' },
  { name: 'RELAY_PORT', default: '2525', meaning: 'Port of the SMTP relay with STARTTLS.' },
  { name: 'RELAY_TLS_PORT', default: '2465', meaning: 'Port of the SMTP relay with TLS from the first byte.' },
  {
    name: 'RELAY_TRUSTED_NETWORKS',
    default: '',
    meaning:
      'Addresses or networks whose SMTP clients may send without AUTH, comma-separated: for programs that have no password to give. Empty: none.',
  },
  {
    name: 'RELAY_TRUSTED_KEY',
    default: '',
    meaning: 'The API key that mail from RELAY_TRUSTED_NETWORKS is sent with. It needs the scope send.',
  },
  {
    name: 'TLS_CERT',
    default: '',
    meaning: 'File with the certificate chain (PEM). Empty: a self-signed one made in DATA_DIR.',
  },
  { name: 'TLS_KEY', default: '', meaning: 'File with the private key of TLS_CERT (PEM).' },
  {
    name: 'SANDBOX_HOST',
    default: '127.0.0.1',
    meaning: 'Address of the sandbox inbox: where it listens and where DELIVERY=sandbox delivers.',
  },
  { name: 'SANDBOX_SMTP_PORT', default: '2526', meaning: 'SMTP port of the sandbox inbox.' },
  { name: 'SANDBOX_HTTP_PORT', default: '8025', meaning: 'HTTP port of the sandbox inbox.' },
  {
    name: 'SANDBOX_NAMES',
    default: '',
    meaning: 'Host names the sandbox inbox answers to over HTTP beside localhost and SANDBOX_HOST, comma-separated.',
  },
  {
    name: 'DELIVERY',
    default: 'sandbox',
    meaning:
      "sandbox: nothing leaves the machine; mx: to the recipients' servers; smtp://user:pass@host:port (or smtps://): through a relay host.",
  },
  {
    name: 'DNS_SERVERS',
    default: '',
    meaning: "Resolvers for look-ups, comma-separated, address or address:port. Empty: the system's.",
  },
  {
    name: 'HELO_NAME',
    default: '(host name)',
    meaning: 'The name the service gives itself in SMTP; its forward and reverse DNS should agree.',
  },
  {
    name: 'RETURN_PATH_HOST',
    default: '(HELO_NAME)',
    meaning: 'Domain of the return path of sending domains that have none of their own.',
  },
  {
    name: 'DOMAIN_GRACE_HOURS',
    default: '72',
    meaning: 'Hours a sending domain stays active after its DNS records broke.',
  },
  {
    name: 'PUBLIC_URL',
    default: 'http://localhost:API_PORT',
    meaning: 'Where the API is reached from outside; opens, clicks and unsubscribes go there too.',
  },
  {
    name: 'TRACKING_SCHEME',
    default: '(of PUBLIC_URL)',
    meaning:
      "http or https: how the accounts' own tracking hosts are reached. https takes a certificate for each of them.",
  },
  {
    name: 'TRUST_PROXY',
    default: '',
    meaning: 'Addresses or networks of reverse proxies whose X-Forwarded-For counts, comma-separated.',
  },
  { name: 'LOG_LEVEL', default: 'info', meaning: 'trace, debug, info, warn, error, fatal or silent.' },
  {
    name: 'BODY_BUDGET_MB',
    default: '128',
    meaning:
      'Megabytes of message bodies one process holds at once, and as many of the templates and uploaded files they name; beyond it mail is refused for a moment (503, 452).',
  },
  {
    name: 'ATTACHMENT_STORAGE_MB',
    default: '1024',
    meaning: 'Megabytes of uploaded files one account may have stored.',
  },
  {
    name: 'CALLS_PER_MINUTE',
    default: '600',
    meaning:
      'Calls but sendEmail that an account may make in a minute, unless "postrider account limit" says otherwise. 0: any number.',
  },
  {
    name: 'WRONG_KEYS_PER_MINUTE',
    default: '10',
    meaning:
      'Invalid API keys an address may show in a minute, to all processes together, before it has to wait (429). 0: any number.',
  },
  {
    name: 'SITE_CONNECTIONS',
    default: '10',
    meaning: 'Connections one worker opens to one site (the domains with the same MX hosts) at a time.',
  },
  {
    name: 'SUPPRESSION_HARDBOUNCE_DAYS',
    default: '0',
    meaning:
      'Days an address stays suppressed after a server said that its mailbox does not exist. 0: until it is taken off the list.',
  },
  {
    name: 'EVENT_DAYS',
    default: '90',
    meaning:
      'Days that events are kept, 7 at least and by whole weeks, and messages with what became of them; an account may keep its events for less. Statistics stay.',
  },
  {
    name: 'BODY_DAYS',
    default: '30',
    meaning:
      'Days that message bodies are kept, 7 at least and by whole weeks; an account may keep its own for less. Mail that still waits keeps its body.',
  },
  {
    name: 'EXPORT_STORAGE_MB',
    default: '2048',
    meaning: 'Megabytes of export files, compressed, one account may have stored; each is kept for 7 days.',
  },
  {
    name: 'MX_PORT',
    default: '25',
    meaning: "Port of the recipients' servers with DELIVERY=mx; another one is for tests.",
  },
  {
    name: 'MX_PRIVATE_NETWORKS',
    default: 'refuse',
    meaning:
      "allow or refuse recipients' servers on loopback, private and link-local addresses with DELIVERY=mx. Allow it for tests, or where all recipients are inside: whoever has a domain writes its MX records.",
  },
  {
    name: 'WEBHOOK_PRIVATE_NETWORKS',
    default: 'refuse; allow with "postrider up" and DELIVERY=sandbox',
    meaning:
      'Webhooks and callbacks to hosts on loopback, private and link-local addresses: allow, refuse, or the networks that are allowed, comma-separated.',
  },
  {
    name: 'WEBHOOK_PORTS',
    default: '80,443; any with WEBHOOK_PRIVATE_NETWORKS=allow',
    meaning: 'Ports that URLs of webhooks and callbacks may name, comma-separated.',
  },
  {
    name: 'ALLOW_UNSAFE_DATABASE',
    default: '',
    meaning:
      '1: run on a database with fsync, full_page_writes or synchronous_commit off. For tests only: mail can be lost.',
  },
]
