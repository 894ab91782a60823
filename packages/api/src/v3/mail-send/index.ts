import { type Operation, operation } from '../operation.ts'
import { badRequest } from '../refusal.ts'

export const MAIL_SEND: readonly Operation[] = [
  operation({
    name: 'sendMail',
    summary: 'Accepts a message for one or many recipients',
    ...{ section: '2', method: 'POST', path: '/mail/send', scope: 'send', right: 'mail.send', status: 202 },
    ...{ anyBody: true, sends: true },
    async act() {
      throw badRequest()
    },
  }),
]
