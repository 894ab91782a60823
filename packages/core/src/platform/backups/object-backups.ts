import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { pause } from '../concurrency/timer-delay.ts'
import { createObjectStore, ObjectStoreError } from '../storage/object-store.ts'
import {
  BackupError,
  type BackupStore,
  MAX_BACKUP_FILE,
  type ObjectBackupAccess,
  type Patience,
} from './backup-store.ts'

/** Milliseconds before a request is repeated: twice as many each time. */
const PAUSE = { first: 1000, longest: 15_000 } as const
const PAGE = 1000
/** A longer list makes no sense: two million objects of 8 MB are 16 TB. */
const MAX_OBJECTS = 2_000_000

/**
 * Backups in object storage, each file one encrypted object. The storage cannot read them, nor alter them or exchange one for another unnoticed.
 * It can leave objects out.
 */
export function objectBackups({ keys: hexKeys, ...config }: ObjectBackupAccess, patience: Patience): BackupStore {
  const store = createObjectStore(config)
  const keys = hexKeys.map((hex) => Buffer.from(hex, 'hex'))
  const limits = { timeoutMs: patience.requestMs }

  /** Only what may succeed later is repeated. */
  async function patiently<T>(request: () => Promise<T>): Promise<T> {
    const until = performance.now() + patience.repeatMs
    for (let wait: number = PAUSE.first; ; wait = Math.min(2 * wait, PAUSE.longest)) {
      try {
        return await request()
      } catch (error) {
        if (!(error instanceof ObjectStoreError)) throw error
        if (error.kind === 'missing') throw error
        const kind = error.kind === 'unavailable' ? 'unavailable' : 'refused'
        if (kind === 'refused' || performance.now() + wait > until)
          throw new BackupError(kind, error.message, { cause: error })
        await pause(wait)
      }
    }
  }

  return {
    name: store.name,
    serverFolders: [],
    isEmpty: async () => (await patiently(() => store.list('', { ...limits, limit: 1 }))).keys.length === 0,
    async list(folder, after) {
      const found: string[] = []
      for (let last = after; found.length < MAX_OBJECTS; last = found.at(-1)) {
        const { keys, isComplete } = await patiently(() =>
          store.list(`${folder}/`, { ...limits, limit: PAGE, after: last }),
        )
        found.push(...keys)
        if (isComplete) return found
        if (keys.length === 0 || (last !== undefined && (keys[0] as string) <= last)) break
      }
      throw new BackupError('refused', `the list of objects of ${store.name} does not end: check S3_ENDPOINT`)
    },
    async read(path) {
      try {
        const maxBytes = MAX_BACKUP_FILE
        return opened(keys, path, await patiently(() => store.get(path, { ...limits, maxBytes })), store.name)
      } catch (error) {
        if (error instanceof ObjectStoreError && error.kind === 'missing') return undefined
        throw error
      }
    },
    write: (path, content) => patiently(() => store.put(path, sealed(keys[0] as Buffer, path, content), limits)),
    remove: (path) => patiently(() => store.remove(path, limits)),
    close: () => store.close(),
  }
}

/** An object: the version of its form, the id of its key, nonce, tag, ciphertext. */
const VERSION = 1
const KEY_ID_BYTES = 8
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES
const CIPHER = 'aes-256-gcm'

function sealed(key: Buffer, path: string, content: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(path))
  const text = cipher.update(content)
  cipher.final()
  return Buffer.concat([Buffer.of(VERSION), idOf(key), nonce, cipher.getAuthTag(), text])
}

function opened(keys: readonly Buffer[], path: string, object: Buffer, where: string): Buffer {
  if (object[0] !== VERSION || object.length < HEAD_BYTES) throw damaged(path, where)
  const [id, nonce, tag] = [
    object.subarray(1, 1 + KEY_ID_BYTES),
    object.subarray(1 + KEY_ID_BYTES, HEAD_BYTES - TAG_BYTES),
    object.subarray(HEAD_BYTES - TAG_BYTES, HEAD_BYTES),
  ]
  const key = keys.find((key) => idOf(key).equals(id))
  if (!key) {
    throw new BackupError(
      'refused',
      `${where}/${path} is encrypted with another SECRET_KEY, or damaged: set SECRET_KEY, or SECRET_KEY_PREVIOUS, to the value of when it was written`,
    )
  }
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce).setAAD(boundTo(path)).setAuthTag(tag)
    const content = decipher.update(object.subarray(HEAD_BYTES))
    decipher.final()
    return content
  } catch {
    throw damaged(path, where)
  }
}

/** An object that was moved to another path is recognized. */
function boundTo(path: string): Buffer {
  return Buffer.from(`postrider backup\n${path}`)
}

function idOf(key: Buffer): Buffer {
  return createHash('sha256').update('postrider backup key').update(key).digest().subarray(0, KEY_ID_BYTES)
}

function damaged(path: string, where: string): BackupError {
  return new BackupError('damaged', `${where}/${path} is damaged`)
}
