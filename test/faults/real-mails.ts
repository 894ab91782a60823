import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { corpusPath } from '../helpers/corpora.ts'

/**
 * Mails of strangers without their From fields, CRLF at the end of each line: those of the corpora (`CORPORA`) and every file of the folder `MAILS`.
 * Bounces among them have every kind of fault.
 */
export function realMails(): string[] {
  const folders = [
    ...(process.env.CORPORA ? ['bounces', 'bounces-rfc3464', 'feedback'].map(corpusPath) : []),
    ...(process.env.MAILS ? [process.env.MAILS] : []),
  ]
  return folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.eml'))
      .sort()
      .map((name) => withoutFrom(readFileSync(join(folder, name), 'latin1').replace(/\r\n|\r|\n/g, '\r\n'))),
  )
}

function withoutFrom(mail: string): string {
  const end = mail.indexOf('\r\n\r\n') + 1 || mail.length
  return mail.slice(0, end).replace(/^From:[^\r]*\r\n(?:[ \t][^\r]*\r\n)*/gim, '') + mail.slice(end)
}
