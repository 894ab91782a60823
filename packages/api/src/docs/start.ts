import type { DocsReader } from '@postrider/dashboard'
import { type Html, html, type Value } from '@postrider/ui'
import { languagesOf } from './example.ts'
import { API_NAMES, APIS, type DocsPage, type Frame } from './frame.ts'
import { type ExampleCall, snippetsOf } from './snippets.ts'

/** Where programs reach the installation. */
export interface Addresses {
  readonly publicUrl: string
  readonly relayPort: number
  /** The relay's own certificate, which no client trusts by itself. */
  readonly isSelfSigned: boolean
}

const KEY = ['api_key', 'YOUR_API_KEY'] as const

/** The first page: send, see what became of it, be told; then the APIs and all guides. */
export function startPage({ guides }: Frame, addresses: Addresses, reader: DocsReader | undefined): DocsPage {
  const { publicUrl } = addresses
  const from = `desk@${reader?.domain ?? 'YOUR_DOMAIN'}`
  const calls: Readonly<Record<'send' | 'look' | 'hook', ExampleCall>> = {
    send: {
      method: 'POST',
      url: `${publicUrl}/v2/sendEmail`,
      headers: [KEY],
      json: {
        personalizations: [{ recipient: 'lena@harbor.example' }],
        from: { fromEmail: from, fromName: 'Harbour desk' },
        subject: 'Your berth is ready',
        content: '<p>Berth 4 is yours until Friday.</p>',
      },
    },
    look: { method: 'GET', url: `${publicUrl}/v2/messages?search=to%3Alena%40harbor.example&limit=1`, headers: [KEY] },
    hook: {
      method: 'POST',
      url: `${publicUrl}/v2/webhooks`,
      headers: [KEY],
      json: { url: 'https://YOUR_HOST/hooks/mail', events: 'sent,bounced,opened' },
    },
  }
  const card = (path: string, title: string, subject: string) =>
    html`<li><a href="${path}"><b>${title}</b>${subject}</a></li>`
  const step = (title: string, text: Value, call: ExampleCall, group: string) =>
    html`<section class="stack s"><h2 class="h2">${title}</h2><p class="dim">${text}</p>${languagesOf(snippetsOf(call), group)}</section>`
  const sections = Map.groupBy(guides, ({ section }) => section)
  return {
    path: '/docs',
    title: 'Documentation',
    crumbs: [],
    body: html`<div class="head"><div><h1>Send, see what became of it, be told</h1>
      <p class="lead">Three calls to this installation, at <code>${publicUrl}</code>. ${readerText(reader)}</p></div>${tryIt(reader)}</div>
${step(
  'Send a message',
  html`The answer has the message’s id. No mailbox has an address at <code>.example</code>, so the call is harmless unchanged.${' '}
    <a href="/docs/v2/sendEmail">All fields</a>`,
  calls.send,
  'send',
)}
${step(
  'See what became of it',
  html`Its state, the reply of the receiving server, and the next attempt. <a href="/docs/guides/events">Messages and events</a>`,
  calls.look,
  'look',
)}
${step(
  'Receive a webhook',
  html`Your URL must answer 200 to a first request, then it gets each event, signed. <a href="/docs/guides/webhooks">Signatures, retries
    and replay</a>`,
  calls.hook,
  'hook',
)}
${clients(addresses, from)}
<section class="stack s"><h2 class="h2">API reference</h2><ul class="cards">
  ${API_NAMES.map((name) => card(`/docs/${name}`, APIS[name].title, APIS[name].subject))}</ul></section>
${[...sections].map(
  ([section, rows]) =>
    html`<section class="stack s"><h2 class="h2">${section}</h2><ul class="cards">
      ${rows.map(({ name, title, subject }) => card(`/docs/guides/${name}`, title, subject))}</ul></section>`,
)}
<p class="dim">The guides are in English. Every page is there as Markdown, too: add <code>.md</code> to its address, or start from${' '}
  <a href="/llms.txt">llms.txt</a>.</p>`,
  }
}

function readerText(reader: DocsReader | undefined): Value {
  if (!reader)
    return html`<a href="/app">Log in</a> before you read on, and the examples have a domain of your account.`
  const { accountId, accountName, keyPrefix, mayMakeKeys } = reader
  const key = keyPrefix
    ? html`Your newest key begins with <code>${keyPrefix}</code>; its secret was shown when it was created.`
    : 'You have no key yet.'
  return html`They are for the account ${accountName}. ${key}${mayMakeKeys && html` <a href="/app/${accountId}/keys/new">Create a key</a>`}`
}

/** Sends the first message to the reader’s own address, by the page of first steps. */
function tryIt(reader: DocsReader | undefined): Value {
  if (!reader?.maySend) return null
  return html`<div class="row"><form method="post" action="/app/${reader.accountId}/first-steps/test"><button class="btn main" type="submit">
    Send one to me now</button></form></div>`
}

/** The programs that people have already, unchanged: what each of them wants as its address. */
function clients({ publicUrl, relayPort, isSelfSigned }: Addresses, from: string): Html {
  const trust = isSelfSigned ? ", tls: { ca: readFileSync('certificate.pem') }" : ''
  const host = new URL(publicUrl).hostname
  const rows: readonly (readonly [language: string, client: string, setting: string])[] = [
    ['Node.js', 'pepipost 2.6', `createSendEmail('YOUR_API_KEY', body, '${publicUrl}/v2/sendEmail')`],
    ['Node.js', '@sendgrid/mail', `mail.client.setDefaultRequest('baseUrl', '${publicUrl}')`],
    [
      'Node.js',
      'nodemailer',
      `createTransport({ host: '${host}', port: ${relayPort}, auth: { user: 'apikey', pass: 'YOUR_API_KEY' }${trust} })`,
    ],
    ['Python', 'sendgrid', `SendGridAPIClient('YOUR_API_KEY', host='${publicUrl}')`],
    ['PHP', 'sendgrid/sendgrid', `new \\SendGrid('YOUR_API_KEY', ['host' => '${publicUrl}'])`],
    ['Go', 'sendgrid-go', `sendgrid.GetRequest("YOUR_API_KEY", "/v3/mail/send", "${publicUrl}")`],
    ['Go', 'pepipost-sdk-go 2.6', `third argument of CreateSendEmail: "${publicUrl}/v2/sendEmail"`],
    ['Ruby', 'sendgrid-ruby', `SendGrid::API.new(api_key: 'YOUR_API_KEY', host: '${publicUrl}')`],
    ['any', 'SMTP', `${host}, port ${relayPort}, user apikey, password YOUR_API_KEY, from ${from}`],
  ]
  return html`<section class="stack s"><h2 class="h2">With the client you have</h2><p class="dim">Clients of the v2 and v3 APIs work unchanged; only key
    and address differ. For the v2 clients, the address is the whole URL of the call: with a host alone, they report success and send nothing.
    Version 5 of the Node client reads reports, and sends by a call of its own that is not served.${
      isSelfSigned &&
      html` The relay’s certificate is self-signed as long as TLS_CERT is not set: “postrider certificate” shows the file that SMTP clients have to
      trust. <a href="/docs/guides/sending">How</a>`
    }</p>
<div class="box scroll" role="group" aria-label="Clients" tabindex="0"><table><thead><tr><th scope="col">Language</th><th scope="col">Client</th>
  <th scope="col">Address</th></tr></thead><tbody>${rows.map(
    ([language, client, setting]) =>
      html`<tr><td>${language}</td><td class="nw">${client}</td><td><code class="any">${setting}</code></td></tr>`,
  )}</tbody></table></div></section>`
}
