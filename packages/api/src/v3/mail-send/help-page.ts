import type { FastifyInstance } from 'fastify'
import { HELP_PLACES } from './help-places.ts'
import { RULES, type RuleName } from './rules.ts'

/** Path of the page that an error's `help` links to, below the service's base URL. */
export const HELP_PATH = '/docs/v3/errors.html'

/** Serves a page with all mail/send rules, the target of the `help` links of errors. */
export async function helpPage(app: FastifyInstance): Promise<void> {
  const page = pageOf(HELP_PLACES)
  app.get(HELP_PATH, async (_request, reply) => reply.type('text/html; charset=utf-8').send(page))
}

const WRONG_TYPE = 'Invalid type. Expected: {expected}, given: {given}.'

function pageOf(places: Readonly<Record<string, readonly RuleName[]>>): string {
  const sections = Object.entries(places).map(([anchor, rules]) => {
    const sentences = rules.length > 0 ? rules.map((rule) => RULES[rule].sentence) : [WRONG_TYPE]
    const items = sentences.map((sentence) => `<li>${escaped(sentence)}</li>`)
    return `<section id="${anchor}"><h2>${headingOf(anchor)}</h2><ul>\n${items.join('\n')}\n</ul></section>`
  })
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Errors of /v3/mail/send</title>
<h1>Errors of POST /v3/mail/send</h1>
<p>Each error gives the path of the invalid field (indexes start at 0) and one of the messages below. A response lists all
errors found. Words in braces are replaced by values from the request. A field of the wrong JSON type is reported
with: ${escaped(WRONG_TYPE)}</p>
${sections.join('\n')}
</html>
`
}

function headingOf(anchor: string): string {
  if (anchor === '-Personalizations-Errors') return 'personalizations (missing)'
  if (anchor === 'message.recipient-errors') return 'personalizations: duplicate recipients'
  return anchor.slice('message.'.length)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
