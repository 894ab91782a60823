import { readFileSync } from 'node:fs'

/** Returns the version of this program, as its metrics and traces state it. */
export function programVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
