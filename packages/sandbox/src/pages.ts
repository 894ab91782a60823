import type { InboxEntry } from './inbox.ts'
import type { ShownMessage } from './shown-message.ts'

/** The newest this many stand on the first page. */
const SHOWN = 200

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

export function messagePage({ id, from, to, subject, headers, text, html, attachments }: ShownMessage): string {
  const fields = headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
  // The message's own HTML lives in a frame without scripts, forms or origin.
  const shown = html ? `<iframe sandbox srcdoc="${escapeHtml(html)}"></iframe>` : `<pre>${escapeHtml(text ?? '')}</pre>`
  const files = attachments
    .map(({ fileName, size }) => `<li>${escapeHtml(fileName ?? 'unnamed')} (${size} bytes)</li>`)
    .join('')
  return page(
    subject,
    `<p><a href="/">Inbox</a> · ${html ? `<a href="/messages/${id}/html">as its reader sees it</a> · ` : ''}<a href="/messages/${id}/raw">raw</a></p><h1>${escapeHtml(subject || '(no subject)')}</h1>` +
      `<p>Envelope: ${escapeHtml(from)} to ${escapeHtml(to)}</p>${shown}${files && `<h2>Attachments</h2><ul>${files}</ul>`}` +
      `<h2>Header</h2><pre>${escapeHtml(fields)}</pre>`,
  )
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
