import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { CACHE, ROOT, readFreshBundle } from './bundle.ts'

/**
 * Where Node caches what it has compiled. It is not in the folder for temporary files, where other users could plant code. The image's is
 * filled when it is built.
 */
export const COMPILE_CACHE = join(CACHE, 'node')
/** A debugger and a profiler are given the sources, as coverage is (NODE_V8_COVERAGE). */
const FROM_SOURCES = /^--(?:inspect|cpu-prof|heap-prof|prof\b)/

/**
 * Runs a program: the file of its module, as a URL. The bundle that `npm run setup` or `npm start` has made of the sources is loaded instead of them, if no
 * source has changed since: a process then loads some ten files instead of 760 to 1,630, in a third of the processor time
 * (docs/decisions/0030-bundle.md).
 */
export async function launch(module: URL): Promise<void> {
  enableCompileCache(COMPILE_CACHE)
  const fromSources = process.env.NODE_V8_COVERAGE || process.execArgv.some((option) => FROM_SOURCES.test(option))
  const bundle = fromSources ? undefined : readFreshBundle()
  const name = fileURLToPath(module).slice(ROOT.length)
  const bundled = bundle?.modules[name]
  await import(bundled === undefined ? module.href : pathToFileURL(bundled).href)
}
