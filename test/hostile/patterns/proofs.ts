import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Pattern } from './scan.ts'

const FILE = new URL('proofs.json', import.meta.url)
/** Milliseconds for one pattern; what takes longer is bounded and measured instead. */
const PATIENCE_MS = 10_000

/** Patterns for which recheck proved that they take time with the length of the text, wherever in it a match may begin. */
export function proven(): ReadonlySet<string> {
  return new Set(JSON.parse(readFileSync(FILE, 'utf8')) as string[])
}

interface Checked {
  readonly status: 'safe' | 'vulnerable' | 'unknown'
  readonly complexity?: { readonly type: string }
}

/** Asks recheck about the patterns that are new, and forgets those that are gone. It takes half a minute for all of them. */
export function prove(patterns: readonly Pattern[]): ReadonlySet<string> {
  // The build for browsers is all JavaScript; the other one would start programs.
  const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as {
    checkSync: (source: string, flags: string, options: object) => Checked
  }
  const before = proven()
  const isLinear = ({ written, source, flags }: Pattern): boolean => {
    if (before.has(written)) return true
    if (source === '') return false
    const { status, complexity } = checkSync(source, flags, { timeout: PATIENCE_MS })
    return status === 'safe' && ['linear', 'safe'].includes(complexity?.type ?? '')
  }
  const linear = new Set(patterns.filter(isLinear).map(({ written }) => written))
  writeFileSync(FILE, `${JSON.stringify([...linear].sort(), null, 1)}\n`)
  return linear
}
