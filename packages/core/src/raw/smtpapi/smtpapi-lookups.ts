import type { EditableTemplates } from '../../content/editable/index.ts'
import type { Sources } from '../../delivery/sources/index.ts'
import type { Batches } from '../../messages/index.ts'
import type { Groups } from '../../suppressions/groups.ts'
import type { SmtpApi } from './smtpapi.ts'
import { templateKeyOf } from './smtpapi-settings.ts'
import type { SmtpApiProblem } from './smtpapi-values.ts'

/** Where the objects are looked up that a message names. */
export interface LookupSources {
  readonly groups: Groups
  readonly batches: Batches
  readonly sources: Pick<Sources, 'mayUse'>
  readonly editableTemplates: EditableTemplates
}

/** Reports the objects named in X-SMTPAPI that the account does not have. */
export async function unknownTo(core: LookupSources, accountId: number, api: SmtpApi): Promise<SmtpApiProblem[]> {
  const { groupId, batchId, ipPool } = api
  const template = templateKeyOf(api)
  const problems: SmtpApiProblem[] = []
  if (groupId !== undefined && !(await core.groups.known(accountId, [groupId])).has(groupId)) {
    problems.push({ path: 'asm_group_id', problem: 'unsubscribe group does not exist' })
  }
  if (batchId !== undefined && !(await core.batches.isOpen(accountId, batchId))) {
    problems.push({ path: 'batch_id', problem: 'batch does not exist or is closed' })
  }
  if (ipPool !== undefined && !(await core.sources.mayUse(ipPool))) {
    problems.push({ path: 'ip_pool', problem: 'pool does not exist' })
  }
  if (template !== undefined && !(await core.editableTemplates.find(accountId, template.toLowerCase()))) {
    const problem = 'template does not exist or has no active version'
    problems.push({ path: 'filters.templates.settings.template_id', problem })
  }
  return problems
}
