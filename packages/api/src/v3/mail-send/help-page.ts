import type { FastifyInstance } from 'fastify'
import { RULES } from './rules.ts'

/** Where `help` of a complaint leads, below the service's own base URL. */
export const HELP_PATH = '/docs/v3/errors.html'

/** A page of all rules of mail/send, for those who follow the link of a complaint. */
export async function helpPage(app: FastifyInstance): Promise<void> {
  const page = pageOf(Object.values(RULES).map(({ sentence }) => sentence))
  app.get(HELP_PATH, async (_request, reply) => reply.type('text/html; charset=utf-8').send(page))
}

function pageOf(sentences: readonly string[]): string {
  const items = [...new Set(sentences)].map((sentence) => `<li>${escaped(sentence)}</li>`)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Errors of /v3/mail/send</title>
<h1>Errors of POST /v3/mail/send</h1>
<p>Each error names the field by its path in the request, with indexes that begin at 0, and one of these rules. All that is
wrong with a request is told together. Words in braces stand for what the request holds.</p>
<ul>
${items.join('\n')}
</ul></html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
