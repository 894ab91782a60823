import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where tap-postgres.ts leaves the environment of the test files of a `tap`, by its process id. */
export const environmentFileOf = (tap: number): string => join(tmpdir(), `postrider-tap-${tap}.json`)

// Imported into each test file's process (.taprc), which tap has started.
const file = environmentFileOf(process.ppid)
if (existsSync(file)) Object.assign(process.env, JSON.parse(readFileSync(file, 'utf8')))
