import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../platform/config/config.ts'
import type { Measured } from '../platform/metrics/metrics.ts'

/** Milliseconds for which the metrics wait: a network file system whose server is gone does not answer at all. */
const WAIT_MS = 1000

/**
 * Returns a function that reads the free space where DATA_DIR is, and BACKUP_DIR if that is a folder. A folder that is not there yet is one of its parent.
 * One whose disk does not answer is left out until it has answered.
 */
export function createDiskFigures({ dataDir, backups }: Pick<Config, 'dataDir' | 'backups'>): () => Promise<Measured> {
  const folders = [
    { name: 'data', path: dataDir },
    ...(backups && 'folder' in backups.address ? [{ name: 'backup', path: backups.address.folder }] : []),
  ]
  const asked = new Map<string, ReturnType<typeof spaceOf>>()
  return async () => {
    const [free, all] = [new Map<string, number>(), new Map<string, number>()]
    await Promise.all(
      folders.map(async ({ name, path }) => {
        const asking = asked.get(name) ?? spaceOf(path).finally(() => asked.delete(name))
        asked.set(name, asking)
        const space = await Promise.race([asking, wait(WAIT_MS, undefined, { ref: false })])
        if (space === undefined) return
        free.set(name, space.free)
        all.set(name, space.all)
      }),
    )
    return { disk_free_bytes: free, disk_bytes: all }
  }
}

/** Undefined if it cannot be read, of which "postrider doctor" says the cause. */
async function spaceOf(path: string): Promise<{ free: number; all: number } | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(path)
    return { free: bavail * bsize, all: blocks * bsize }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path
    return isMissing ? spaceOf(dirname(path)) : undefined
  }
}
