import { applyReading } from './apply-reading.ts'
import { findTarget } from './find-target.ts'
import type { ReturnKind } from './return-result.ts'
import { selectKept, selectReturn, updateReturn } from './store.ts'
import type { ReturnDependencies } from './take-return.ts'

const PAGE = 100
const FIRST = '00000000-0000-0000-0000-000000000000'

export interface RereadFilter {
  /** Kinds of which contents are kept. */
  readonly kinds: readonly ReturnKind[]
  readonly since: Date
}

export interface RereadCount {
  read: number
  /** Of them, those that are something else now, or belong to a delivery now. */
  recognised: number
  /** Of these, those that had an effect. */
  effects: number
  /** Those that must be read once more, because an attempt at their delivery is in progress. */
  inFlight: number
}

/**
 * Reads kept returns again, after the rules were changed, and does what follows from them. Those that are still not recognised stay as
 * they are. `onProgress` is called after each page.
 */
export async function rereadReturns(
  dependencies: ReturnDependencies,
  { kinds, since }: RereadFilter,
  onProgress: (count: RereadCount) => void = () => {},
): Promise<RereadCount> {
  const { sql } = dependencies
  const count = { read: 0, recognised: 0, effects: 0, inFlight: 0 }
  for (let after = FIRST; ; ) {
    const page = await selectKept(sql, { kinds, since, after, limit: PAGE })
    for (const { id } of page) {
      const result = await reread(dependencies, id)
      count.read++
      if (result === 'recognised' || result === 'effect') count.recognised++
      if (result === 'effect') count.effects++
      if (result === 'in-flight') count.inFlight++
    }
    const last = page.at(-1)
    if (!last) return count
    onProgress(count)
    after = last.id
  }
}

async function reread(
  dependencies: ReturnDependencies,
  id: string,
): Promise<'unchanged' | 'recognised' | 'effect' | 'in-flight'> {
  const { sql, secrets, reader } = dependencies
  const kept = await selectReturn(sql, id)
  if (!kept?.content) return 'unchanged'
  const { messageId, recipientNo, sentTo, mailFrom } = kept
  const own = messageId === null || recipientNo === null ? undefined : { messageId, recipientNo }
  const { reading } = await reader.read(kept.content, {
    returnPath: own && sentTo !== null ? sentTo : undefined,
    mailFrom: mailFrom ?? undefined,
  })
  if (reading.kind === 'unrecognised' || reading.kind === 'failed') return 'unchanged'
  // A mark that was valid when the message came is valid for it.
  const target = own ?? findTarget({ secrets, recipients: [], reading, now: kept.receivedAt.getTime() })
  if (reading.kind === kept.kind && !target) return 'unchanged'
  let isStored = false
  const about = { messageId: target?.messageId ?? null, recipientNo: target?.recipientNo ?? null }
  const { effect, why } = await applyReading(
    dependencies,
    { returnId: id, reading, target },
    async (transaction, applied) => {
      isStored = await updateReturn(transaction, id, { ...about, reading, applied })
    },
  )
  if (why === 'in-flight') return 'in-flight'
  if (!isStored) return 'unchanged'
  return effect === 'none' ? 'recognised' : 'effect'
}
