import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
export const CACHE = join(ROOT, 'node_modules/.cache')
export const BUNDLES = join(CACHE, 'postrider')
/** Says which bundle counts. */
export const MANIFEST = join(BUNDLES, 'bundle.json')
/** pnpm writes it when it has installed: it stands for all libraries. */
export const INSTALLED = 'node_modules/.pnpm/lock.yaml'

/** Size in bytes, and modification time in seconds since 1970, which is what every way of copying files keeps. */
export type State = readonly [size: number, modified: number]

/** Paths are relative to the root of the repository. */
export interface Manifest {
  /** The name of the bundle's folder. */
  readonly folder: string
  /** The bundle's file for each module that programs and threads begin with, by its source. */
  readonly modules: Readonly<Record<string, string>>
  /** All sources of the bundle. */
  readonly sources: Readonly<Record<string, State>>
}

export interface Bundle {
  /** Absolute paths. */
  readonly modules: Readonly<Record<string, string>>
}

/** Returns the bundle if every source is as it was when the bundle was made, which takes 10 ms to see; undefined otherwise. */
export function readFreshBundle(): Bundle | undefined {
  let manifest: Manifest
  try {
    manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'))
  } catch {
    return undefined
  }
  const { folder, modules, sources } = manifest
  for (const [path, [size, modified]] of Object.entries(sources)) {
    const state = stateOf(path)
    if (state === undefined || state[0] !== size || state[1] !== modified) return undefined
  }
  return {
    modules: Object.fromEntries(Object.entries(modules).map(([source, file]) => [source, join(BUNDLES, folder, file)])),
  }
}

export function stateOf(path: string): State | undefined {
  const stat = statSync(ROOT + path, { throwIfNoEntry: false })
  return stat && [stat.size, Math.floor(stat.mtimeMs / 1000)]
}
