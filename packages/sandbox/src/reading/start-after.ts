/**
 * Where a page begins in a list with the newest first: behind the one with this id, or with the newest if that is empty. Ids of the same millisecond are in no
 * order, so that they are compared only if that one was removed.
 */
export function startAfter(ids: readonly string[], before: string): number {
  const at = ids.indexOf(before)
  if (before === '' || at !== -1) return at + 1
  const older = ids.findIndex((id) => id < before)
  return older === -1 ? ids.length : older
}
