import { readFile } from 'node:fs/promises'
import type { Inbox } from '../inbox.ts'
import type { InboxEntry } from '../inbox-entry.ts'
import type { Releases } from './release.ts'

interface ReleaseOrder {
  readonly inbox: Inbox
  readonly releases: Releases
  readonly entry: InboxEntry
  readonly to: readonly string[]
}

/**
 * Sends a copy as it is, from the address in its header: its return path belongs to the sandbox's delivery. Returns false if its file was removed from
 * outside. Throws NotSent.
 */
export async function releaseEntry({ inbox, releases, entry, to }: ReleaseOrder): Promise<boolean> {
  releases.require(to)
  const raw = await readFile(inbox.fileOf(entry)).catch(() => undefined)
  if (!raw) return false
  await releases.release(raw, entry.head.from?.address ?? '', to)
  return true
}
