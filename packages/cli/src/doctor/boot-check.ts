import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from './check.ts'
import { type CheckResult, firstOf, ok, warn } from './check-result.ts'
import type { Readings } from './readings.ts'

/** systemd.unit(5): what is enabled has a link in one of these folders. */
const ENABLED = 'etc/systemd/system/*.{wants,requires}/*'

export const bootCheck: Check = {
  area: 'processes',
  name: 'start at boot',
  run: async (readings) => checkBoot(readings),
}

/** `root`: tests have a folder of their own. */
export function checkBoot({ config }: Pick<Readings, 'config'>, root = '/'): CheckResult | undefined {
  // sd_booted(3). In a container, whatever started it starts it again.
  if (config.delivery.kind === 'sandbox' || !existsSync(join(root, 'run/systemd/system'))) return undefined
  const units = globSync(ENABLED, { cwd: root }).filter((link) => isOurs(join(root, link)))
  const names = [...new Set(units.map((link) => link.slice(link.lastIndexOf('/') + 1)))]
  return names.length > 0
    ? ok(`enabled: ${firstOf(names.sort())}`)
    : warn(
        'no systemd unit of Postrider is enabled on this host, so nothing runs after a restart of it',
        'systemctl enable postrider, or the units of deploy/systemd; without one: postrider unit > /etc/systemd/system/postrider.service',
      )
}

function isOurs(link: string): boolean {
  if (/postrider/i.test(link.slice(link.lastIndexOf('/')))) return true
  try {
    return /^Exec\w+=.*postrider/im.test(readFileSync(link, 'utf8'))
  } catch {
    return false
  }
}
