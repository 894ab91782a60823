import type { Core } from '@postrider/core'
import type { SmtpApi } from './smtpapi.ts'
import { templateKeyOf } from './smtpapi-settings.ts'
import type { SmtpApiProblem } from './smtpapi-values.ts'

/** What X-SMTPAPI names and the account does not have. */
export async function unknownTo(core: Core, accountId: number, api: SmtpApi): Promise<SmtpApiProblem[]> {
  const { groupId, batchId } = api
  const template = templateKeyOf(api)
  const problems: SmtpApiProblem[] = []
  if (groupId !== undefined && !(await core.groups.known(accountId, [groupId])).has(groupId)) {
    problems.push({ path: 'asm_group_id', problem: 'the account has no such unsubscribe group' })
  }
  if (batchId !== undefined && !(await core.batches.isOpen(accountId, batchId))) {
    problems.push({ path: 'batch_id', problem: 'the account has no such batch, or it takes no more messages' })
  }
  if (template !== undefined && !(await core.editableTemplates.find(accountId, template.toLowerCase()))) {
    const problem = 'the account has no such template, or it has no active version'
    problems.push({ path: 'filters.templates.settings.template_id', problem })
  }
  return problems
}
