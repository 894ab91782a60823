import { rmSync } from 'node:fs'
import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs `act`, and removes the folder if the process is ended by a signal meanwhile: it has a copy of the database, in plain. The server on it is
 * ended by the kernel with this process.
 */
export async function removingOnSignal<T>(folder: string, act: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals): void => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    return await act()
  } finally {
    for (const signal of SIGNALS) process.off(signal, end)
  }
}
