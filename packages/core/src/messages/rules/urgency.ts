import { CLASS_PROBLEM, isClassName } from '../../accounts/mail-class.ts'
import { DEADLINE } from '../../delivery/outcomes/schedule.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Submission } from '../../submission/submission.ts'

/** Checks the class and the deadline. Throws parameterInvalid. */
export function checkUrgency({ settings: { class: of, deadline }, nameOf }: Submission): void {
  if (of !== undefined && !isClassName(of)) throw invalidParameter(nameOf('class'), CLASS_PROBLEM)
  const { least, most } = DEADLINE
  if (deadline !== undefined && !(Number.isInteger(deadline) && deadline >= least && deadline <= most)) {
    throw invalidParameter(nameOf('deadline'), `must be a number of seconds from ${least} to ${most}`)
  }
}
