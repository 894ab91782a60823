import { Readable } from 'node:stream'
import { csvCell, type Suppression } from '@postrider/core'

/** The whole list as CSV, with the columns that an import by the API reads; read and sent page by page. */
export function suppressionRows(pages: AsyncIterable<readonly Suppression[]>): Readable {
  async function* rows(): AsyncGenerator<string> {
    yield 'email,domain,reason,since,group\r\n'
    for await (const page of pages) yield page.map(row).join('')
  }
  return Readable.from(rows())
}

function row({ scope, value, group, reason, since }: Suppression): string {
  const names = scope === 'domain' ? ['', value] : [value, '']
  const cells = [...names, reason, since.toISOString(), scope === 'group' ? group : '']
  return `${cells.map(csvCell).join(',')}\r\n`
}
