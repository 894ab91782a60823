import type { InboxEntry } from './inbox-entry.ts'
import type { NotShown } from './message-reader.ts'
import type { Shown } from './show-message.ts'

/** Number of messages in the list, the newest ones. */
const LIST_LENGTH = 200
/** Maximum characters of a content, and of a header, on a page. */
const MAX_LENGTH = 256 * 1024
const MAX_NAME_LENGTH = 998

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}' +
  'table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #ddd}' +
  'iframe{width:100%;height:30rem;border:1px solid #ddd}pre{white-space:pre-wrap;background:#f6f6f6;padding:1rem}'

export function listPage(entries: readonly InboxEntry[]): string {
  const rows = entries
    .slice(-LIST_LENGTH)
    .reverse()
    .map(
      ({ id, to, subject, receivedAt }) =>
        `<tr><td>${escapeHtml(receivedAt)}</td><td>${escapeHtml(to)}</td><td><a href="/view/${id}">${escapeHtml(subject || '(no subject)')}</a></td></tr>`,
    )
  const body =
    rows.length === 0
      ? '<p>No messages yet.</p>'
      : `<table><tr><th>Received</th><th>To</th><th>Subject</th></tr>${rows.join('')}</table>`
  return page('Sandbox inbox', `<h1>Sandbox inbox</h1>${body}`)
}

export function messagePage({ message, sender, source }: Shown): string {
  const { id, text, html, attachments } = message
  if (source !== undefined) {
    const why = `<p>This message is too large or too malformed to be parsed. ${download(id)} is complete.</p>`
    return pageOf(message, '', `${why}<h2>Beginning of the source</h2><pre>${escapeHtml(source)}</pre>`)
  }
  const whole = html ?? text ?? ''
  const header = message.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
  const isCut = whole.length > MAX_LENGTH || header.length > MAX_LENGTH
  const content = escapeHtml(whole.slice(0, MAX_LENGTH))
  // The message's HTML is in a frame without scripts, forms or origin.
  const shown = html ? `<iframe sandbox srcdoc="${content}"></iframe>` : `<pre>${content}</pre>`
  const files = attachments
    .map(
      ({ fileName, size }) =>
        `<li>${escapeHtml((fileName ?? 'unnamed').slice(0, MAX_NAME_LENGTH))} (${size} bytes)</li>`,
    )
    .join('')
  const note = `<p>This message is too large for a page: only its beginning is shown. ${download(id)} is complete.</p>`
  return pageOf(
    { ...message, sender },
    html ? `<a href="/messages/${id}/html">HTML view</a> · ` : '',
    `${isCut ? note : ''}${shown}${files && `<h2>Attachments</h2><ul>${files}</ul>`}` +
      `<h2>Header</h2><pre>${escapeHtml(header.slice(0, MAX_LENGTH))}</pre>`,
  )
}

/** The page for a message that could not be shown. */
export function notShownPage(entry: InboxEntry, why: NotShown['why']): string {
  return pageOf(entry, '', `<p>Cannot show this message: ${WHY[why]}. ${download(entry.id)} is complete.</p>`)
}

const WHY: Readonly<Record<NotShown['why'], string>> = {
  time: 'parsing takes too long',
  memory: 'parsing takes too much memory',
  busy: 'the inbox is busy; reload after a few seconds',
}

interface Page extends InboxEntry {
  readonly sender?: string | undefined
}

function pageOf({ id, from, to, subject, sender }: Page, links: string, content: string): string {
  return page(
    subject,
    `<p><a href="/">Inbox</a> · ${links}<a href="/messages/${id}/raw">raw</a></p><h1>${escapeHtml(subject || '(no subject)')}</h1>` +
      `${sender === undefined ? '' : `<p>From: ${escapeHtml(sender.slice(0, MAX_NAME_LENGTH))}</p>`}` +
      `<p>Envelope: return path ${escapeHtml(from || '<>')}, recipient ${escapeHtml(to)}</p>${content}`,
  )
}

function download(id: string): string {
  return `<a href="/messages/${id}/raw" download="${id}.eml">The raw message</a>`
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style><body>${body}</body></html>`
}

/** Replaces one character at a time with a constant: a callback for each of five million takes half a second. */
function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&#38;')
    .replaceAll('<', '&#60;')
    .replaceAll('>', '&#62;')
    .replaceAll('"', '&#34;')
    .replaceAll("'", '&#39;')
}
