/** The place of a group of commands, or of a single command, in the help. */
interface Topic {
  readonly heading: string
  /** The subject of the group; undefined for a single command, which has its summary. */
  readonly about?: string
}

const [SERVICE, ACCOUNTS, CONTENT, MAIL, DELIVERY, REPORTS] = [
  'Service:',
  'Accounts and access:',
  'Domains and content:',
  'Mail:',
  'Delivery:',
  'Reports:',
]

/** The first words of all commands, with the headings of the help in their order. */
export const TOPICS: Readonly<Record<string, Topic>> = {
  up: { heading: SERVICE },
  init: { heading: SERVICE },
  unit: { heading: SERVICE },
  settings: { heading: SERVICE },
  migrate: { heading: SERVICE },
  upgrade: { heading: SERVICE },
  setup: { heading: SERVICE },
  health: { heading: SERVICE },
  doctor: { heading: SERVICE },
  plan: { heading: SERVICE },
  backup: { heading: SERVICE, about: 'Backups of the embedded database' },
  restore: { heading: SERVICE },
  restored: { heading: SERVICE },
  certificate: { heading: SERVICE },
  secret: { heading: SERVICE, about: 'Rotation of SECRET_KEY' },
  dns: { heading: SERVICE },
  completion: { heading: SERVICE },
  account: { heading: ACCOUNTS, about: 'Accounts, their limits, settings and standing' },
  subaccount: { heading: ACCOUNTS, about: 'Accounts below an account' },
  user: { heading: ACCOUNTS, about: 'Users of the dashboard' },
  credits: { heading: ACCOUNTS, about: 'Credits of an account' },
  key: { heading: ACCOUNTS, about: 'API keys and operator keys' },
  audit: { heading: ACCOUNTS, about: 'Audit log' },
  domain: { heading: CONTENT, about: 'Sending domains' },
  template: { heading: CONTENT, about: 'Stored templates' },
  'editable-template': { heading: CONTENT, about: 'Legacy and dynamic templates of v3' },
  attachment: { heading: CONTENT, about: 'Stored files' },
  group: { heading: CONTENT, about: 'Unsubscribe groups' },
  suppression: { heading: CONTENT, about: 'Suppressed addresses and domains' },
  'failed-address': { heading: CONTENT, about: 'Blocked and invalid addresses' },
  import: { heading: CONTENT, about: 'Data from other services' },
  message: { heading: MAIL, about: 'Messages and their deliveries' },
  batch: { heading: MAIL, about: 'Batches of scheduled messages' },
  returns: { heading: MAIL, about: 'Mail that came back' },
  inbox: { heading: MAIL, about: 'Sandbox inbox' },
  top: { heading: DELIVERY },
  queue: { heading: DELIVERY, about: 'Queue, pauses, and actions on many deliveries' },
  provider: { heading: DELIVERY, about: 'Mailbox providers' },
  source: { heading: DELIVERY, about: 'Addresses that mail is sent from' },
  pool: { heading: DELIVERY, about: 'Pools of source addresses, and the rules that choose one' },
  'pool rule': { heading: DELIVERY, about: 'Rules that choose a pool' },
  'smart-host': { heading: DELIVERY, about: 'Relay hosts of other services' },
  tls: { heading: DELIVERY, about: 'TLS that is demanded of recipients' },
  events: { heading: REPORTS },
  export: { heading: REPORTS, about: 'Files of events' },
  webhook: { heading: REPORTS, about: 'URLs to which events are reported' },
  person: { heading: REPORTS, about: 'Data stored about a recipient' },
  stats: { heading: REPORTS, about: 'Statistics' },
  dmarc: { heading: REPORTS, about: 'DMARC reports of receivers' },
  'tls-reports': { heading: REPORTS },
}
