import { postrider, type Ran } from './postrider.ts'

export interface Diagnosis {
  readonly status: string
  readonly counts: { ok: number; warn: number; bad: number }
  readonly checks: readonly {
    area: string
    name: string
    status: string
    detail: string
    fix: string | null
    stages?: Record<string, number>
  }[]
  readonly notChecked: readonly { area: string; name: string; reason: string }[]
}

/** `postrider doctor --json`, whatever it finds. */
export async function examined(
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<Diagnosis & Pick<Ran, 'code' | 'stderr'>> {
  const { code, stdout, stderr } = await postrider(env, 'doctor', ...args, '--json')
  return { ...(JSON.parse(stdout) as Diagnosis), code, stderr }
}

/** What a check found, as one line: "warn: what; fix". */
export function foundBy({ checks, notChecked }: Diagnosis, name: string): string {
  const check = checks.find((one) => one.name === name)
  if (check) return `${check.status}: ${check.detail}${check.fix === null ? '' : `; fix: ${check.fix}`}`
  return `not checked: ${notChecked.find((one) => one.name === name)?.reason}`
}

/** The names of the checks that are not ok, in order. */
export function faultsOf({ checks }: Diagnosis): string[] {
  return checks.filter(({ status }) => status !== 'ok').map(({ name }) => name)
}
