import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Call, Command } from '../../command.ts'
import { layOut } from '../../table.ts'
import { coreCommand } from '../core-command.ts'
import { Camera, type Picture, pictureText } from './top-picture.ts'

const EVERY_MS = 2000

export const topCommands: readonly Command[] = [
  coreCommand({
    name: 'top',
    usage: '[--once]',
    summary: 'Watch rates, the largest destinations of the queue, the slowest, and workers',
    detail:
      'On a terminal a new picture every two seconds, until Ctrl-C; elsewhere one. Rates are of the last ten seconds, those of the first picture of the ' +
      'hour so far. Slowest are destinations whose attempts, of the latest 500, took a second or more on average. ' +
      'Of a long queue little is read, so that watching costs little: "~" marks estimates; "postrider queue" counts more',
    parameters: { once: 'Print one picture' },
    examples: ['top', 'top --once --json'],
    async run(core, given, call) {
      const camera = new Camera(core)
      if (!given.once && process.stdout.isTTY) return watch(camera, call)
      const picture = await camera.take()
      return { data: picture, text: pictureText(picture) }
    },
  }),
]

/** Takes pictures until it is told to stop. A failure, such as a lost database, ends it after the terminal is as it was. */
async function watch(camera: Camera, { options, env }: Call): Promise<undefined> {
  const stop = new AbortController()
  const { signal } = stop
  const ended = Promise.race([once(process, 'SIGINT', { signal }), once(process, 'SIGTERM', { signal })])
  void ended.then(
    () => stop.abort(),
    () => {},
  )
  const screen = options.json === true ? lines : drawing(!env.NO_COLOR && env.TERM !== 'dumb')
  screen.open()
  try {
    while (!signal.aborted) {
      screen.show(await camera.take())
      await pause(EVERY_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    stop.abort()
    screen.close()
  }
}

interface Screen {
  open(): void
  show(picture: Picture): void
  close(): void
}

const lines: Screen = {
  open() {},
  show: (picture) => void process.stdout.write(`${JSON.stringify(picture)}\n`),
  close() {},
}

/** The alternate screen of the terminal, which has what was there before when it is closed. Each picture is drawn over the last one, so nothing flickers. */
function drawing(hasColours: boolean): Screen {
  return {
    open: () => void process.stdout.write('\x1b[?1049h\x1b[?25l'),
    show(picture) {
      const { columns, rows } = process.stdout
      const text = layOut(pictureText(picture), { columns: columns || undefined, hasColours }).split('\n')
      const shown = text.slice(0, Math.max(1, (rows || text.length + 1) - 1))
      process.stdout.write(`\x1b[H${shown.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`)
    },
    close: () => void process.stdout.write('\x1b[?25h\x1b[?1049l'),
  }
}
