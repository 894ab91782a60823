import type { Stage } from '../../delivery/outcome.ts'
import { MAX_SEARCHED, stageIn } from './smtp-reply.ts'

/**
 * Returns the stage at which a recipient was rejected, from the text for people: from the paragraph that names the recipient, or the
 * command before the reply that does. From the whole text if it is about no other recipient.
 */
export function stageFor(recipient: string, lines: readonly string[], alone: boolean): Stage | undefined {
  if (alone) return stageIn(lines.join(' ').slice(0, MAX_SEARCHED))
  const wanted = recipient.toLowerCase()
  if (wanted === '') return undefined
  let command = ''
  let paragraph = ''
  let isNamed = false
  for (const line of [...lines, '']) {
    if (line === '') {
      const stage = isNamed && !paragraph.includes('>>> ') ? stageIn(paragraph) : undefined
      if (stage) return stage
      paragraph = ''
      isNamed = false
      continue
    }
    if (paragraph.length < MAX_SEARCHED) paragraph += ` ${line}`
    if (line.startsWith('>>> ')) command = line
    if (!line.toLowerCase().includes(wanted)) continue
    isNamed = true
    if (command !== '' && /^(<<<|[45]\d\d) /.test(line)) return stageIn(command)
  }
  return undefined
}
