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
  if (total === undefined) return `${name}${done} read`
  const full = total === 0 ? BAR : Math.round((BAR * done) / total)
  return `${name}[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${done}/${total}`
}
