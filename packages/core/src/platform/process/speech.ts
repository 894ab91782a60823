import { createLog } from './log.ts'

/** Sentences of a program that are not in its log: for the person who started it, or for whatever collects its lines. */
export interface Speech {
  /** Whether each line is one of JSON, as those of the log are. They are collected, so a secret would stay in them. */
  readonly isJson: boolean
  say(sentence: string): void
  complain(sentence: string): void
}

interface Stream {
  write(text: string): unknown
}

export interface SpeechOptions {
  readonly env: NodeJS.ProcessEnv
  /** Before complaints to people; default "postrider". */
  readonly prefix?: string
  readonly stdout?: Stream
  readonly stderr?: Stream
}

/** JSON only if LOG_FORMAT asks for it, since that is the default of logs, but not of what people read. */
export function createSpeech(program: string, options: SpeechOptions): Speech {
  const { env, prefix = 'postrider', stdout = process.stdout, stderr = process.stderr } = options
  if (env.LOG_FORMAT !== 'json')
    return {
      isJson: false,
      say: (sentence) => void stdout.write(`${sentence}\n`),
      complain: (sentence) => void stderr.write(`${prefix}: ${sentence}\n`),
    }
  const log = (stream: Stream) => createLog(program, 'info', { write: (line) => void stream.write(line) })
  return {
    isJson: true,
    say: (sentence) => log(stdout).info(sentence),
    complain: (sentence) => log(stderr).error(sentence),
  }
}

/** Warnings of Node become lines of the same kind as the log's. */
export function logWarnings(env: NodeJS.ProcessEnv, complain: (sentence: string) => void): void {
  if (env.LOG_FORMAT !== 'json') return
  // Node's own listener, which writes them as text.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => complain(`${name}: ${message}`))
}
