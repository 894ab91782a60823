import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { type RunningPostrider, type StartOptions, startPostrider } from '../../packages/client/src/test/index.ts'

/** The program of this checkout, and a cache that the files of a run share: to fill it takes as long as three starts. */
export const CHECKOUT = {
  program: fileURLToPath(new URL('../../packages/cli/src/postrider.ts', import.meta.url)),
  cache: join(process.env.TEST_FOLDER ?? tmpdir(), 'test-starts'),
  // A machine that does much else takes long.
  timeout: 180_000,
}

/** An installation that is stopped at the end of the test. */
export async function start(t: Test, options: StartOptions = {}): Promise<RunningPostrider> {
  const postrider = await startPostrider({ ...CHECKOUT, ...options })
  t.teardown(() => postrider.stop())
  return postrider
}
