/** What something cost this thread, in milliseconds of processor time, which other processes have no part in. */
export interface Cost {
  readonly all: number
  /** Of the longest turn of the loop: so long nobody else was served. */
  readonly longest: number
}

/** Runs something in this process and measures it. */
export async function costOf(act: () => unknown): Promise<Cost> {
  const began = spent()
  let [last, longest, over] = [began, 0, false]
  const turn = (): void => {
    const now = spent()
    longest = Math.max(longest, now - last)
    last = now
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  await act()
  over = true
  await new Promise((resolve) => setImmediate(resolve))
  return { all: spent() - began, longest }
}

function spent(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
