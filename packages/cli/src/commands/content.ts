import { readFileSync } from 'node:fs'
import { type Command, requiredId, requiredText, textOption, UsageError } from '../command.ts'

export const contentCommands: readonly Command[] = [
  {
    name: 'template create',
    usage: '--account ID --name NAME --file FILE',
    summary: 'store content that messages name by templateId',
    options: { account: { type: 'string' }, name: { type: 'string' }, file: { type: 'string' } },
    run: (call) =>
      call.withCore(async (core) => {
        const template = await core.templates.create({
          accountId: requiredId(call, 'account'),
          name: requiredText(call, 'name'),
          content: readFileSync(requiredText(call, 'file'), 'utf8'),
        })
        return { data: { templateId: template.id, templateName: template.name }, text: `template ${template.id}` }
      }),
  },
  {
    name: 'suppression add',
    usage: '--account ID (--email ADDRESS | --domain DOMAIN)',
    summary: 'do not send to an address or a domain any more',
    options: { account: { type: 'string' }, email: { type: 'string' }, domain: { type: 'string' } },
    run: (call) =>
      call.withCore(async (core) => {
        const email = textOption(call, 'email')
        const domain = textOption(call, 'domain')
        const value = email ?? domain
        if (value === undefined) throw new UsageError('--email or --domain is missing')
        const scope = email === undefined ? 'domain' : 'address'
        await core.suppressions.add({ accountId: requiredId(call, 'account'), scope, value, reason: 'manual' })
        return { data: { scope, value }, text: `${value} is suppressed` }
      }),
  },
]
