/**
 * Processor time, in milliseconds, of the longest turn of this process's main loop while something is done: for so long nobody
 * else was answered, whatever else the machine did meanwhile.
 */
export async function longestTurn(act: () => Promise<unknown>): Promise<number> {
  let last = spent()
  let longest = 0
  let watching = true
  const look = (): void => {
    const now = spent()
    longest = Math.max(longest, now - last)
    last = now
    if (watching) setImmediate(look).unref()
  }
  setImmediate(look).unref()
  try {
    await act()
  } finally {
    watching = false
  }
  return Math.max(longest, spent() - last)
}

function spent(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
