import { resolve } from 'node:path'
import type { Config, Core } from '@postrider/core'

const DOMAIN = 'demo.example'

/** Makes a demo account with an active sending domain where there is no account yet, and answers its key; undefined otherwise. */
export async function makeDemoAccount(core: Core): Promise<string | undefined> {
  if ((await core.accounts.list()).length > 0) return undefined
  const account = await core.accounts.create('demo')
  await core.domains.add({ accountId: account.id, name: DOMAIN, state: 'active' })
  return (await core.auth.createKey({ accountId: account.id, name: 'demo' })).secret
}

/** What a newcomer needs: the key, and three lines to paste. `certificate`: the file of the relay's, where it lies on this host. */
export function firstSteps(key: string, config: Config, certificate?: string): string {
  const api = `http://${reachable(config.apiHost)}:${config.apiPort}`
  const relay = `smtp://${reachable(config.relayHost)}:${config.relayPort}`
  const body = JSON.stringify({
    personalizations: [{ recipient: 'you@example.org' }],
    from: { fromEmail: `hello@${DOMAIN}`, fromName: 'Demo' },
    subject: 'My first message',
    content: '<p>It works.</p>',
  })
  const trust = certificate && isForThisHost(config) ? `-s --cacert ${quoted(resolve(certificate))}` : '-sk'
  const mail = `From: hello@${DOMAIN}\\r\\nTo: you@example.org\\r\\nSubject: By SMTP\\r\\n\\r\\nIt works.\\r\\n`
  return `
A demo account was made. Its API key, shown only now: ${key}

Send a message by HTTP:
  curl -s ${api}/v2/sendEmail -H 'api_key: ${key}' -H 'content-type: application/json' -d '${body}'

By SMTP (any client: host ${reachable(config.relayHost)}, port ${config.relayPort}, STARTTLS, user apikey, password the key):
  printf '${mail}' | curl ${trust} --ssl-reqd ${relay} -u 'apikey:${key}' --mail-from hello@${DOMAIN} --mail-rcpt you@example.org -T -
${certificate ? `  A client that checks certificates trusts the relay's by ${certificate} (see "postrider certificate").\n` : ''}
${seeing(config)}
`
}

/** The self-signed certificate names localhost and 127.0.0.1; one of TLS_CERT seldom names either. */
function isForThisHost({ tlsCert, relayHost }: Config): boolean {
  return tlsCert === undefined && ['localhost', '127.0.0.1'].includes(reachable(relayHost))
}

/** For a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function seeing(config: Config): string {
  if (config.delivery.kind !== 'sandbox')
    return 'See what became of it:\n  npm run -s postrider -- message show MESSAGE_ID'
  return `See what arrived, there or in a browser at ${sandboxUrl(config)}/ :\n  curl -s ${sandboxUrl(config)}/messages`
}

/** Where the sandbox inbox is asked. */
export function sandboxUrl({ sandboxHost, sandboxHttpPort }: Config): string {
  return `http://${reachable(sandboxHost)}:${sandboxHttpPort}`
}

/** A process that listens on every address is reached on loopback. */

export function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
