import { readFileSync } from 'node:fs'

/** A file's text; undefined when it is not there or can't be read. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
