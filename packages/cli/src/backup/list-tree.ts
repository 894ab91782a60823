import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Files and folders of a folder and all below it, as relative paths; a folder precedes what it contains. */
export interface Tree {
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

/** Lists a tree without what `isLeftOut` names. Links are not followed, and not listed. */
export async function listTree(root: string, isLeftOut: (path: string) => boolean): Promise<Tree> {
  const tree = { folders: [] as string[], files: [] as string[] }
  const pending = ['']
  for (let folder = pending.shift(); folder !== undefined; folder = pending.shift()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(ifGone)
    for (const entry of entries ?? []) {
      const path = join(folder, entry.name)
      if (isLeftOut(path)) continue
      if (entry.isDirectory()) {
        tree.folders.push(path)
        pending.push(path)
      } else if (entry.isFile()) tree.files.push(path)
    }
  }
  return tree
}

/** A file of a running database may be deleted at any moment. */
export function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
