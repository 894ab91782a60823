import type { Stage } from '../../delivery/outcomes/outcome.ts'
import { locateAddress } from './address-in.ts'
import { MAX_SEARCHED, stageIn } from './smtp-reply.ts'

/**
 * Returns the stages at which recipients were rejected, by address in lower case, from the text for people: that of the command
 * before the reply that names the recipient, or of the paragraph that does.
 */
export function stagesIn(lines: readonly string[]): ReadonlyMap<string, Stage> {
  const stages = new Map<string, Stage>()
  const add = (addresses: Iterable<string>, stage: Stage | undefined) => {
    for (const address of addresses) if (stage && !stages.has(address)) stages.set(address, stage)
  }
  let command = ''
  let paragraph = ''
  let named = new Set<string>()
  for (const line of [...lines, '']) {
    if (line === '') {
      if (named.size > 0 && !paragraph.includes('>>> ')) add(named, stageIn(paragraph))
      paragraph = ''
      named = new Set()
      continue
    }
    if (paragraph.length < MAX_SEARCHED) paragraph += ` ${line}`
    if (line.startsWith('>>> ')) command = line
    const addresses = addressesIn(line)
    for (const address of addresses) named.add(address)
    if (addresses.length > 0 && command !== '' && /^(<<<|[45]\d\d) /.test(line)) add(addresses, stageIn(command))
  }
  return stages
}

function addressesIn(line: string): string[] {
  const addresses: string[] = []
  for (let found = locateAddress(line); found; found = locateAddress(line, found.end)) {
    addresses.push(found.address.toLowerCase())
  }
  return addresses
}
