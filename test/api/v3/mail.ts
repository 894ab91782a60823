import type { Sender } from '../../helpers/service.ts'

export type Fields = Record<string, unknown>

/** The least a v3 mail needs (P1); `extra` goes on top, and what is undefined in it is left out. */
export function mailBody({ domain }: Pick<Sender, 'domain'>, extra: Fields = {}): Fields {
  return {
    personalizations: [{ to: [{ email: 'lena@harbor.example' }] }],
    from: { email: `desk@${domain}` },
    subject: 'Berth 4',
    content: [{ type: 'text/plain', value: 'Your berth is ready.' }],
    ...extra,
  }
}

/** One personalization to Lena with something more. */
export function toLena(extra: Fields): Fields {
  return { personalizations: [{ to: [{ email: 'lena@harbor.example' }], ...extra }] }
}
