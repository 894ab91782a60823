import type { InboxEntry } from './inbox-entry.ts'
import type { NotShown } from './message-reader.ts'
import type { Shown } from './show-message.ts'

/** The newest this many stand on the first page. */
const SHOWN = 200
/** Characters of a content, and of a header, on a page. */
const MOST_SHOWN = 256 * 1024
const MOST_NAME = 998

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}' +
  'table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #ddd}' +
  'iframe{width:100%;height:30rem;border:1px solid #ddd}pre{white-space:pre-wrap;background:#f6f6f6;padding:1rem}'

export function listPage(entries: readonly InboxEntry[]): string {
  const rows = entries
    .slice(-SHOWN)
    .reverse()
    .map(
      ({ id, to, subject, receivedAt }) =>
        `<tr><td>${escapeHtml(receivedAt)}</td><td>${escapeHtml(to)}</td><td><a href="/view/${id}">${escapeHtml(subject || '(no subject)')}</a></td></tr>`,
    )
  const body =
    rows.length === 0
      ? '<p>Nothing has arrived yet.</p>'
      : `<table><tr><th>Received</th><th>To</th><th>Subject</th></tr>${rows.join('')}</table>`
  return page('Sandbox inbox', `<h1>Sandbox inbox</h1>${body}`)
}

export function messagePage({ message, source }: Shown): string {
  const { id, text, html, attachments } = message
  if (source !== undefined) {
    const why = `<p>This message is too large or too strange to be shown in its parts. ${download(id)} has all of it.</p>`
    return pageOf(message, '', `${why}<h2>The beginning of its source</h2><pre>${escapeHtml(source)}</pre>`)
  }
  const whole = html ?? text ?? ''
  const header = message.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
  const isCut = whole.length > MOST_SHOWN || header.length > MOST_SHOWN
  const content = escapeHtml(whole.slice(0, MOST_SHOWN))
  // The message's own HTML lives in a frame without scripts, forms or origin.
  const shown = html ? `<iframe sandbox srcdoc="${content}"></iframe>` : `<pre>${content}</pre>`
  const files = attachments
    .map(({ fileName, size }) => `<li>${escapeHtml((fileName ?? 'unnamed').slice(0, MOST_NAME))} (${size} bytes)</li>`)
    .join('')
  const note = `<p>This message is too large for a page, which shows its beginning. ${download(id)} has all of it.</p>`
  return pageOf(
    message,
    html ? `<a href="/messages/${id}/html">as its reader sees it</a> · ` : '',
    `${isCut ? note : ''}${shown}${files && `<h2>Attachments</h2><ul>${files}</ul>`}` +
      `<h2>Header</h2><pre>${escapeHtml(header.slice(0, MOST_SHOWN))}</pre>`,
  )
}

/** The page of a message that is not shown, and why. */
export function notShownPage(entry: InboxEntry, why: NotShown['why']): string {
  return pageOf(entry, '', `<p>This message is not shown: ${WHY[why]}. ${download(entry.id)} has all of it.</p>`)
}

const WHY: Readonly<Record<NotShown['why'], string>> = {
  time: 'reading it takes too long',
  memory: 'reading it takes too much memory',
  busy: 'the inbox is busy; ask again in some seconds',
}

function pageOf({ id, from, to, subject }: InboxEntry, links: string, content: string): string {
  return page(
    subject,
    `<p><a href="/">Inbox</a> · ${links}<a href="/messages/${id}/raw">raw</a></p><h1>${escapeHtml(subject || '(no subject)')}</h1>` +
      `<p>Envelope: ${escapeHtml(from)} to ${escapeHtml(to)}</p>${content}`,
  )
}

function download(id: string): string {
  return `<a href="/messages/${id}/raw" download="${id}.eml">The raw message</a>`
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style><body>${body}</body></html>`
}

/** Sign by sign, with a text in its place: a function called for each of five million takes half a second. */
function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&#38;')
    .replaceAll('<', '&#60;')
    .replaceAll('>', '&#62;')
    .replaceAll('"', '&#34;')
    .replaceAll("'", '&#39;')
}
