import { resolve } from 'node:path'
import { type Config, type Core, linkTo } from '@postrider/core'

export const DEMO_DOMAIN = 'demo.example'

/**
 * On a developer's machine the webhooks' receivers are local, too, so private networks are allowed if no mail leaves the machine. A
 * process that is started alone does not get this setting and rejects them. Mail of the service, such as invitations, comes from the domain
 * of the demo account, so that it is in the sandbox inbox.
 */
export function trialSettings({ delivery }: Config, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (delivery.kind !== 'sandbox' || env.NODE_ENV === 'production') return {}
  return { WEBHOOK_PRIVATE_NETWORKS: 'allow', SERVICE_DOMAIN: DEMO_DOMAIN }
}

export const NO_OWNER = 'No user yet: "postrider user link" prints the link that makes the owner, once, for 24 hours.'

export const NO_ACCOUNT =
  'No account yet: "postrider account create --name NAME" makes one and prints its API key, "postrider init" sets up everything.'

/** Whether the installation has no account, or none that is not deleted. */
export async function isWithoutAccount({ accounts }: Core): Promise<boolean> {
  return (await accounts.list()).every(({ state }) => state === 'deleted')
}

/**
 * Creates a demo account with an active sending domain and returns its key; undefined if there is or was an account, or if mail goes to the servers of
 * its recipients, who should not get any from a domain that does not exist.
 */
export async function makeDemoAccount(core: Core, { delivery }: Config): Promise<string | undefined> {
  if (delivery.kind === 'mx' || (await core.accounts.list()).length > 0) return undefined
  const account = await core.accounts.create('demo')
  await core.domains.add({ accountId: account.id, name: DEMO_DOMAIN, state: 'active' })
  return (await core.auth.createKey({ accountId: account.id, name: 'demo' })).secret
}

/**
 * Returns the link with which the first user is made, who then owns the account and operates the installation; undefined if there is an operator
 * already. A link that an earlier start printed no longer works.
 */
export async function makeFirstLink(
  { people }: Core,
  { publicUrl }: Config,
): Promise<{ url: string; expiresAt: Date } | undefined> {
  if (!(await people.firstLink.isNeeded())) return undefined
  const { token, expiresAt } = await people.firstLink.create()
  return { url: linkTo(publicUrl, 'first', token), expiresAt }
}

/** The first steps for a new user: the key, and three lines to paste. `certificate`: file of the relay's certificate on this host. */
export function firstSteps(key: string, config: Config, certificate?: string): string {
  const api = `http://${reachable(config.apiHost)}:${config.apiPort}`
  const relay = `smtp://${reachable(config.relayHost)}:${config.relayPort}`
  const body = JSON.stringify({
    personalizations: [{ recipient: 'you@example.org' }],
    from: { fromEmail: `hello@${DEMO_DOMAIN}`, fromName: 'Demo' },
    subject: 'My first message',
    content: '<p>It works.</p>',
  })
  const trust = certificate && isForThisHost(config) ? `-s --cacert ${quoted(resolve(certificate))}` : '-sk'
  const mail = `From: hello@${DEMO_DOMAIN}\\r\\nTo: you@example.org\\r\\nSubject: By SMTP\\r\\n\\r\\nIt works.\\r\\n`
  return `
Created a demo account. Its API key (shown once): ${key}

Send a message over HTTP:
  curl -s ${api}/v2/sendEmail -H 'api_key: ${key}' -H 'content-type: application/json' -d '${body}'

Send a message over SMTP (any client: host ${reachable(config.relayHost)}, port ${config.relayPort}, STARTTLS, user apikey, password the key):
  printf '${mail}' | curl ${trust} --ssl-reqd ${relay} -u 'apikey:${key}' --mail-from hello@${DEMO_DOMAIN} --mail-rcpt you@example.org -T -
${certificate ? `  Clients that verify certificates can trust the relay's certificate, ${certificate} (see "postrider certificate").\n` : ''}
Read what became of your mail:
  curl -s ${api}/v2/events/feed -H 'api_key: ${key}'

${resultSteps(config)}
`
}

/** The self-signed certificate is for localhost and 127.0.0.1; one given by TLS_CERT is seldom for either. */
function isForThisHost({ tlsCert, relayHost }: Config): boolean {
  return tlsCert === undefined && ['localhost', '127.0.0.1'].includes(reachable(relayHost))
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function resultSteps(config: Config): string {
  if (config.delivery.kind !== 'sandbox') return 'Show the result:\n  npm run -s postrider -- message show MESSAGE_ID'
  return `List delivered messages here, or open ${sandboxUrl(config)}/ in a browser:\n  curl -s ${sandboxUrl(config)}/messages`
}

/** The base URL of the sandbox's HTTP server. */
export function sandboxUrl({ sandboxHost, sandboxHttpPort }: Config): string {
  return `http://${reachable(sandboxHost)}:${sandboxHttpPort}`
}

/** The host at which this machine connects to a process: one that listens on every address is reached on loopback. */
export function local(host: string): string {
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
}

/** The host of a URL at which people reach a process from this machine. */
export function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
