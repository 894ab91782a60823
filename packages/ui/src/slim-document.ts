import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Html, html, render } from './html.ts'

const STYLE = readFileSync(new URL('../assets/slim.css', import.meta.url), 'utf8').replaceAll(/\n\s*/g, '')
const HASH = createHash('sha256').update(STYLE).digest('base64')

/** Headers of a slim document: its own style and forms to its own host work, nothing else does. */
export const SLIM_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'x-frame-options': 'DENY',
} as const

export interface SlimDocument {
  /** A language tag. */
  readonly language: string
  readonly direction: 'ltr' | 'rtl'
  readonly title: string
  /** The content of the body element. */
  readonly body: Html
}

/**
 * Returns a whole document in one file, for people who do not use the dashboard: no script, no other request, and it works in the old browsers of
 * mail programs. Its size is that of the body and some 4 kB: the body is for the caller to bound.
 */
export async function slimDocument({ language, direction, title, body }: SlimDocument): Promise<string> {
  const head = html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
`
  const rest = html`
</head>
<body>
${body}
</body>
</html>
`
  return `${await render(head)}<style>${STYLE}</style>${await render(rest)}`
}
