import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from '../storage/sync-folder.ts'
import { BackupError, type BackupStore, UNFINISHED_FILE } from './backup-store.ts'

/** Backups in a folder. Its files are readable by their owner only. */
export function folderBackups(root: string): BackupStore {
  return {
    name: root,
    serverFolders: [root, join(root, 'wal')],
    // A file that a write left when it was interrupted is none of others.
    isEmpty: async () => ((await readdir(root).catch(ifMissing)) ?? []).every((name) => UNFINISHED_FILE.test(name)),
    async list(folder, after = '') {
      const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(ifMissing)
      return (entries ?? [])
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .filter((path) => path > after)
        .sort()
    },
    read: (path) =>
      readFile(join(root, path))
        .catch(ifMissing)
        .catch((error) => {
          throw new BackupError('refused', `cannot read ${join(root, path)} (${error.code})`)
        }),
    async write(path, content) {
      const target = join(root, path)
      const temporary = `${target}.${randomBytes(4).toString('hex')}.new`
      try {
        await makeFolder(dirname(target))
        const file = await open(temporary, 'wx', 0o600)
        try {
          await file.writeFile(content)
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(temporary, target)
        syncFolder(dirname(target))
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {})
        const { code } = error as NodeJS.ErrnoException
        throw new BackupError('refused', `cannot write to the backup folder ${root} (${code})`)
      }
    },
    async remove(path) {
      await rm(join(root, path), { force: true })
      // A folder of its own has one base backup; the last file takes it along.
      if (path.split('/').length > 2) await rmdir(dirname(join(root, path))).catch(() => {})
    },
    close() {},
  }
}

async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (made === undefined) return
  for (let at = folder; at.length >= made.length; at = dirname(at)) syncFolder(dirname(at))
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
