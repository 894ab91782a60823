import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { BARE_ENVIRONMENT } from '../helpers/processes.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** `postrider webhook listen …` as a process of its own, until it is stopped. */
export function spawnListening(t: Test, env: Readonly<Record<string, string>>, args: readonly string[]) {
  const child = spawn(process.execPath, ['packages/cli/src/postrider.ts', 'webhook', 'listen', ...args], {
    cwd: ROOT,
    env: { ...BARE_ENVIRONMENT, ...env },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (octets: Buffer) => (said += octets))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    ended,
    said: () => said,
    stop: () => void child.kill('SIGINT'),
    /** Resolves as soon as it has printed this, or has ended. */
    says: (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => said.includes(text) && resolve()
        child.stdout.on('data', look).once('close', resolve)
        look()
      }),
  }
}
