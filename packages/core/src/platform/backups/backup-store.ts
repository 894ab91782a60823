import type { ObjectStoreConfig } from '../config/object-storage.ts'

/** Where the backups of one database are: files by their path, none of them larger than {@link MAX_BACKUP_FILE}. */
export interface BackupStore {
  /** For people: the path of the folder, or `s3://BUCKET/PREFIX`. */
  readonly name: string
  /** Folders that the user of the database server writes to. */
  readonly serverFolders: readonly string[]
  /** Whether it has no files at all. */
  isEmpty(): Promise<boolean>
  /** Returns the paths below a folder that follow `after`, in their order. It includes files whose writing was interrupted. */
  list(folder: string, after?: string): Promise<string[]>
  /** Undefined if there is no such file. */
  read(path: string): Promise<Buffer | undefined>
  /** When it resolves, the file is durable and has all of its content. A reader never sees a part of it. Replaces a file with this path. */
  write(path: string, content: Buffer): Promise<void>
  /** Removing a file that does not exist succeeds. */
  remove(path: string): Promise<void>
  close(): void
}

/** How a store is opened. Secret: it has the keys of the storage and of the encryption. */
export type BackupAccess = { readonly folder: string } | ObjectBackupAccess

export interface ObjectBackupAccess extends ObjectStoreConfig {
  /** AES-256 keys in hexadecimal. What is written is encrypted with the first; what was encrypted with any of them can be read. */
  readonly keys: readonly string[]
}

/** The ending of a file in a folder whose writing was interrupted. */
export const UNFINISHED_FILE = /\.[0-9a-f]{8}\.new$/

/** Backups cannot be read or written. The message says what to do. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
  /** "unavailable": the storage did not respond, and it may succeed later. "damaged": the file was altered or cut. */
  readonly kind: 'unavailable' | 'damaged' | 'refused'

  constructor(kind: BackupError['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

export const MAX_BACKUP_FILE = 64 * 2 ** 20

/** Milliseconds for a request to object storage, and for which it is repeated while the storage does not respond. */
export interface Patience {
  readonly requestMs: number
  readonly repeatMs: number
}

export const PATIENCE = {
  /** An outage of some minutes does not end a backup that has been running for hours. */
  long: { requestMs: 60_000, repeatMs: 180_000 },
  /** The database server repeats its commands itself. */
  once: { requestMs: 40_000, repeatMs: 0 },
  /** For small files, and where a command or a start waits. */
  short: { requestMs: 6000, repeatMs: 0 },
} as const satisfies Readonly<Record<string, Patience>>
