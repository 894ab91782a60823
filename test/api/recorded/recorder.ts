import { type CallAnswer, type CallOptions, call } from '../call.ts'

/** A call as it was answered. */
export interface Recorded {
  readonly method: string
  readonly path: string
  readonly status: number
}

type Headers = Readonly<Record<string, string>>

export interface RecorderOptions {
  readonly base: string
  readonly normalize: (text: string) => string
  /** Headers of most answers. Only differences from them are recorded. */
  readonly usual: Headers
}

export interface Recorder {
  readonly calls: readonly Recorded[]
  /** Makes a call and records the answer under a title. */
  ask(title: string, options: CallOptions): Promise<CallAnswer>
  /** Returns the record. */
  text(): string
}

/** Characters of a request body that are recorded in full. */
const LONGEST = 1000

export function createRecorder({ base, normalize, usual }: RecorderOptions): Recorder {
  const calls: Recorded[] = []
  const entries: string[] = []
  return {
    calls,
    async ask(title, options) {
      const { method = 'POST', path = '' } = options
      const answer = await call(base, options)
      calls.push({ method, path, status: answer.status })
      const lines = [
        `# ${title}`,
        `> ${asked(options, normalize)}`,
        `< ${answer.status}`,
        ...headerLines(answer, usual, method === 'HEAD'),
      ]
      const body = withUsualSample(bodyOf(answer)).replaceAll('\r', '\\r')
      entries.push(normalize([...lines, ...(body === '' ? [] : [body])].join('\n')))
      return answer
    },
    text: () => `${entries.join('\n\n')}\n`,
  }
}

function asked(
  { method = 'POST', path = '', headers = {}, body }: CallOptions,
  normalize: (text: string) => string,
): string {
  const shown = Object.entries(headers).map(([name, value]) => `[${name}: ${value}] `)
  const text = normalize(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body))
  const short = text.length > LONGEST ? `${text.slice(0, 100)}… (${text.length} characters)` : text
  return `${method} ${path} ${shown.join('')}${JSON.stringify(short).slice(1, -1).replaceAll('\\"', '"')}`.trimEnd()
}

function headerLines({ headers, text }: CallAnswer, usual: Headers, isHead: boolean): string[] {
  const told = Object.entries(headers)
    .filter(([name]) => name !== 'date')
    .map(([name, value]) => [name, headerValue(name, String(value), isHead ? undefined : text)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const missing = Object.keys(usual).filter((name) => !told.some(([other]) => other === name))
  const others = told.filter(([name, value]) => usual[name] !== value).map(([name, value]) => `< ${name}: ${value}`)
  return [...others, ...(missing.length > 0 ? [`< without ${missing.join(', ')}`] : [])]
}

/** `text` is the body; undefined for HEAD, whose length is that of GET. */
function headerValue(name: string, value: string, text: string | undefined): string {
  const length = text === undefined ? value : String(Buffer.byteLength(text))
  if (name === 'content-length' && value === length) return '<length>'
  return /^x-ratelimit-(remaining|reset)$/.test(name) && /^\d+$/.test(value) ? '<number>' : value
}

function bodyOf({ headers, text }: CallAnswer): string {
  return /^image\//.test(String(headers['content-type'])) ? `(${Buffer.byteLength(text)} octets)` : text
}

/**
 * A sample of waiting mail has any of the deliveries that it could have, in any order: each is recorded as the first recipient of the message with
 * the lowest id.
 */
function withUsualSample(body: string): string {
  const [, sample] = /"sample":(\[\{.*?\}\])/.exec(body) ?? []
  if (sample === undefined) return body
  const entries = JSON.parse(sample) as { messageId: string }[]
  const messageId = entries.map((entry) => entry.messageId).sort()[0]
  const usual = entries.map((entry) => ({ ...entry, messageId, recipientNo: 1, recipient: 'r1@harbor.example' }))
  return body.replace(sample, () => JSON.stringify(usual))
}
