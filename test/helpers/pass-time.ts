let ahead = 0

/**
 * Moves the steady clock of this process on, on which the ages of what it knows are measured, and rates. Timers do not follow, and neither
 * does the service's time of day (`moveClock`).
 */
export function passTime(milliseconds: number): void {
  if (ahead === 0) {
    const now = performance.now.bind(performance)
    Object.defineProperty(performance, 'now', { value: () => now() + ahead, configurable: true })
  }
  ahead += milliseconds
}
