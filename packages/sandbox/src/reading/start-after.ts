/**
 * Where a page begins that follows the one which ended with this id, in a list with the newest first; -1 if there is nothing behind. Ids of the same
 * millisecond are in no order, so that they are compared only if that one was removed.
 */
export function startAfter(ids: readonly string[], before: string): number {
  const at = ids.indexOf(before)
  if (at === -1) return ids.findIndex((id) => id < before)
  return at + 1 < ids.length ? at + 1 : -1
}
