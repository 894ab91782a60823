export interface Count {
  passed: number
  failed: number
  skipped: number
}

/** Begins the line that a test process prints for an uncaught error of a file that has ended. JSON follows: its file and text. */
export const LATE = '# late error: '
/** Line of a process in which nothing is open any more: what follows is Node's own end. */
export const OVER = '\u0001over'
/** Maximum number of lines that are kept of what a file prints; the last ones. */
const MOST_LINES = 10_000
/** What tap prints of a test of the file, or of an assertion outside of one. */
const RESULT = /^(not )?ok \d+ - (.*)$/

/** What a test file printed, as TAP: each test of the file is a sentence that counts. */
export class TestReport {
  readonly lines: string[] = []
  /** The titles of tests that failed. */
  readonly failures: string[] = []
  readonly count: Count = { passed: 0, failed: 0, skipped: 0 }
  /** What the file's process and those it started used, without the database; undefined if unknown. */
  processorSeconds: number | undefined
  readonly #print: (line: string) => void

  /** `print` receives what is worth a line although every test passed. */
  constructor(print: (line: string) => void) {
    this.#print = print
  }

  /** Whether any test was run. */
  get isEmpty(): boolean {
    return this.count.passed + this.count.failed + this.count.skipped === 0
  }

  add(line: string): void {
    this.lines.push(line)
    if (this.lines.length > 2 * MOST_LINES) this.lines.splice(0, MOST_LINES)
    const figures = /^\s*# figures: (.*)$/.exec(line)
    if (figures) this.#print(`       ${figures[1]}`)
    const result = RESULT.exec(line)
    if (result) this.#tally(result[1] !== undefined, result[2] as string)
  }

  #tally(failed: boolean, title: string): void {
    if (/# SKIP\b/i.test(title)) {
      this.count.skipped++
      this.#print(`skipped ${title}`)
    } else if (failed) {
      this.count.failed++
      this.failures.push(title)
    } else this.count.passed++
  }
}
