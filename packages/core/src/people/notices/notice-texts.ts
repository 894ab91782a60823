import type { NoticeKind } from '../../accounts/notices/note-owners.ts'
import type { Notice, NoticeAccount, NoticePart } from '../../accounts/notices/notice.ts'

interface TextRow {
  title(subject: string, detail: Details): string
  /** The event, and the advice. */
  lines(subject: string, detail: Details): readonly string[]
  /** Path of the account's page in the dashboard that shows it. */
  path(subject: string): string
}

/** The details of a notice as text; empty where there is none. */
type Details = (name: string) => string

const REASONS: Readonly<Record<string, string>> = {
  hardbounce: 'mail to it bounced',
  abuse: 'its mail was reported as spam',
  unsubscribe: 'it unsubscribed',
  manual: 'it was added to the suppressions by hand',
}

/** The texts of the kinds that have none of their own elsewhere. */
const TEXTS: Readonly<Record<Exclude<NoticeKind, 'reputation' | 'credit'>, TextRow>> = {
  webhook: {
    title: (_, of) => `A webhook was disabled: ${of('url')}`,
    lines: (_, of) => [
      `The service disabled the webhook ${of('url')}: ${of('reason')}.`,
      'No event is lost: they wait. Correct the server, then resume the webhook: it continues where it stopped.',
    ],
    path: (subject) => `webhooks/${subject}`,
  },
  domain: {
    title: (subject) => `The domain ${subject} is no longer active`,
    lines: (subject) => [
      `Mail from ${subject} is refused, because its DNS records were not found or another account has proven that it owns the domain.`,
      'The page of the domain says which records are missing. Publish them and have the domain checked again.',
    ],
    path: (subject) => `domains/${subject}`,
  },
  key: {
    title: (_, of) => `The API key “${of('name')}” expires soon`,
    lines: (_, of) => [
      `The API key “${of('name')}” expires on ${of('expiresAt').slice(0, 16).replace('T', ' ')} UTC. From then on it is refused.`,
      'Rotate it, or give it another expiry, and change the programs that use it.',
    ],
    path: () => 'keys',
  },
  colleague: {
    title: (_, of) => `A member of the account gets no mail from it: ${of('email')}`,
    lines: (_, of) => [
      `The account suppresses the address ${of('email')} of one of its members: ${REASONS[of('reason')] ?? of('reason')}.`,
      'Mail of the account to this address is dropped. If that is not intended, remove it from the suppressions.',
    ],
    path: () => 'suppressions',
  },
  import: {
    title: (_, of) => (of('failure') === '' ? 'An import has ended' : 'An import is incomplete'),
    lines: (_, of) => [
      `The import from ${of('from')} has ended: ${of('added')} added, ${of('unchanged')} unchanged, ${of('rejected')} rejected.`,
      ...(of('failure') === '' ? [] : [`${of('failure')}.`]),
    ],
    path: () => 'templates',
  },
}

/** Returns the part of the mail about a notice. */
export function partOf(
  { accountId }: NoticeAccount,
  { kind, subject, detail }: Notice & { readonly kind: keyof typeof TEXTS },
  publicUrl: string,
): NoticePart {
  const row = TEXTS[kind]
  const of = (name: string) => (detail[name] === undefined || detail[name] === null ? '' : String(detail[name]))
  const lines = [...row.lines(subject, of), '', `${publicUrl}/app/${accountId}/${row.path(subject)}`]
  return { title: row.title(subject, of), lines }
}

/** Returns the subject of a mail with these parts. */
export function mailSubject({ accountId, name }: NoticeAccount, parts: readonly NoticePart[]): string {
  const [only] = parts
  if (parts.length !== 1 || !only) return `${parts.length} notices about the account ${name} (${accountId})`
  return only.title.includes(`(${accountId})`) ? only.title : `${only.title} (account ${name}, ${accountId})`
}

/** Returns the text of a mail with these parts. */
export function mailText({ accountId }: NoticeAccount, parts: readonly NoticePart[], publicUrl: string): string {
  const many = parts.length > 1
  return [
    ...parts.flatMap(({ title, lines }) => [
      ...(many ? [title, '-'.repeat(Math.min(72, title.length)), ''] : []),
      ...lines,
      '',
      '',
    ]),
    'Notices are sent together, at most four mails per day. Each kind can be switched off:',
    `${publicUrl}/app/${accountId}/settings`,
    '',
  ].join('\n')
}
