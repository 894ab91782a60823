import { isGiven } from './body.ts'
import type { Check, ValidationErrors } from './complaints.ts'

const FARTHEST = 72 * 3600

/** Rows 21, 22 and 53 to 63: fields other than the content. */
export function checkOptions(check: Check): void {
  const { mail, complaints } = check
  checkCategories(mail.categories, complaints)
  if (Object.values(mail.sections ?? {}).some((text) => typeof text !== 'string')) {
    complaints.add('sectionInvalid', 'sections')
  }
  checkSendAt(mail.send_at, 'send_at', check)
  if (isGiven(mail.batch_id) && typeof mail.batch_id !== 'string') complaints.add('batchInvalid', 'batch_id')
  checkGroup(check)
  if (isGiven(mail.ip_pool_name) && typeof mail.ip_pool_name !== 'string') complaints.add('poolInvalid', 'ip_pool_name')
}

/** Rows 21 and 22. */
export function checkSendAt(sendAt: unknown, field: string, { complaints, now }: Check): void {
  if (!isGiven(sendAt)) return
  if (!Number.isInteger(sendAt)) complaints.add('sendAtInvalid', field)
  else if ((sendAt as number) > now / 1000 + FARTHEST) complaints.add('sendAtTooFar', field)
}

/** Rows 58 to 62. */
function checkCategories(categories: unknown, complaints: ValidationErrors): void {
  if (!isGiven(categories)) return
  if (!isTexts(categories)) {
    complaints.add('categoriesInvalid', 'categories')
    return
  }
  const count = categories.length
  if (count > 10) {
    complaints.add('categoriesTooMany', 'categories', { count })
    return
  }
  const twice = categories.find((category, at) => categories.indexOf(category) !== at)
  if (twice !== undefined) complaints.add('categoryTwice', 'categories', { given: twice })
  if (categories.some((category) => category.length > 255)) complaints.add('categoryTooLong', 'categories')
  if (categories.some((category) => /[^\x00-\x7f]/.test(category))) complaints.add('categoryNotAscii', 'categories')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** Rows 53 and 55. Whether the group exists is checked after everything else. */
function checkGroup({ mail: { asm }, complaints }: Check): void {
  if (!isGiven(asm)) return
  const group = asm.group_id
  if (!Number.isInteger(group)) complaints.add('groupInvalid', 'asm.group_id')
  else if (Number(group) < 1 || Number(group) > 2_147_483_647) {
    complaints.add('groupUnknown', 'asm.group_id', { given: Number(group) })
  }
  const shown = asm.groups_to_display
  if (!isGiven(shown)) return
  if (!Array.isArray(shown) || !shown.every(Number.isInteger)) complaints.add('groupsInvalid', 'asm.groups_to_display')
  else if (shown.length > 25) complaints.add('groupsTooMany', 'asm.groups_to_display', { count: shown.length })
}
