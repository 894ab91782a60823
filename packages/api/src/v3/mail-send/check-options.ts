import { isGiven } from './body.ts'
import type { Check, ValidationErrors } from './validation-errors.ts'

const FARTHEST = 72 * 3600

/** Rows 21, 22 and 53 to 63: fields other than the content. */
export function checkOptions(check: Check): void {
  const { mail, errors } = check
  checkCategories(mail.categories, errors)
  if (Object.values(mail.sections ?? {}).some((text) => typeof text !== 'string')) {
    errors.add('sectionInvalid', 'sections')
  }
  checkSendAt(mail.send_at, 'send_at', check)
  if (isGiven(mail.batch_id) && typeof mail.batch_id !== 'string') errors.add('batchInvalid', 'batch_id')
  checkGroup(check)
  if (isGiven(mail.ip_pool_name) && typeof mail.ip_pool_name !== 'string') errors.add('poolInvalid', 'ip_pool_name')
}

/** Rows 21 and 22. */
export function checkSendAt(sendAt: unknown, field: string, { errors, now }: Check): void {
  if (!isGiven(sendAt)) return
  if (!Number.isInteger(sendAt)) errors.add('sendAtInvalid', field)
  else if ((sendAt as number) > now / 1000 + FARTHEST) errors.add('sendAtTooFar', field)
}

/** Rows 58 to 62. */
function checkCategories(categories: unknown, errors: ValidationErrors): void {
  if (!isGiven(categories)) return
  if (!isTexts(categories)) {
    errors.add('categoriesInvalid', 'categories')
    return
  }
  const count = categories.length
  if (count > 10) {
    errors.add('categoriesTooMany', 'categories', { count })
    return
  }
  const twice = categories.find((category, at) => categories.indexOf(category) !== at)
  if (twice !== undefined) errors.add('categoryTwice', 'categories', { given: twice })
  if (categories.some((category) => category.length > 255)) errors.add('categoryTooLong', 'categories')
  if (categories.some((category) => /[^\x00-\x7f]/.test(category))) errors.add('categoryNotAscii', 'categories')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** Rows 53 and 55. Whether the group exists is checked after everything else. */
function checkGroup({ mail: { asm }, errors }: Check): void {
  if (!isGiven(asm)) return
  const group = asm.group_id
  if (!Number.isInteger(group)) errors.add('groupInvalid', 'asm.group_id')
  else if (Number(group) < 1 || Number(group) > 2_147_483_647) {
    errors.add('groupUnknown', 'asm.group_id', { given: Number(group) })
  }
  const shown = asm.groups_to_display
  if (!isGiven(shown)) return
  if (!Array.isArray(shown) || !shown.every(Number.isInteger)) errors.add('groupsInvalid', 'asm.groups_to_display')
  else if (shown.length > 25) errors.add('groupsTooMany', 'asm.groups_to_display', { count: shown.length })
}
