import type { Call } from '../command.ts'

/** Shows how far the command is. */
export interface Progress {
  /** `total` is undefined if unknown. */
  show(what: string, done: number, total?: number): void
  end(): void
}

const BAR = 30
const REDRAW_MS = 100
const LINE_MS = 5000

export const SILENT: Progress = { show: () => {}, end: () => {} }

/** Redraws a bar on a terminal. Elsewhere prints a line every few seconds and one when each part is done. */
export function progressOn(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): Progress {
  let last: { readonly what: string; readonly line: string } | undefined
  let shownAt = 0
  const write = (line: string, final: boolean) => {
    shownAt = Date.now()
    stream.write(stream.isTTY ? `\r\x1b[K${line}${final ? '\n' : ''}` : `${line}\n`)
  }
  const finish = () => {
    if (last) write(last.line, true)
    last = undefined
  }
  return {
    show(what, done, total) {
      if (last && last.what !== what) finish()
      last = { what, line: lineOf(what, done, total) }
      if (Date.now() - shownAt >= (stream.isTTY ? REDRAW_MS : LINE_MS)) write(last.line, false)
    },
    end: finish,
  }
}

function lineOf(what: string, done: number, total: number | undefined): string {
  const name = what.padEnd(20)
  if (total === undefined) return `${name}${done}`
  const full = total === 0 ? BAR : Math.round((BAR * done) / total)
  return `${name}[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${done}/${total}`
}

/** Where a command shows how far it is: on a terminal, and not with --json. */
export function progressOf({ options, stderr }: Pick<Call, 'options' | 'stderr'>): Progress {
  return stderr.isTTY && !options.json ? progressOn(stderr) : SILENT
}

/** Passes the items on, and shows how many there were. */
export async function* shown<T>(
  progress: Progress,
  what: string,
  items: AsyncIterable<T> | Iterable<T>,
): AsyncGenerator<T> {
  let count = 0
  for await (const item of items) {
    progress.show(what, ++count)
    yield item
  }
  progress.end()
}
