import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './bare.ts'

/** A block of commands under a heading of a page. */
export interface Block {
  /** `docs/installing.md, "One host", 1` */
  readonly name: string
  readonly lines: readonly string[]
}

/** The blocks of commands of a page, in its order. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let [heading, count] = ['', 0]
  for (const [, title, text] of readFileSync(join(ROOT, page), 'utf8').matchAll(
    /^```(?!sh$).*?^```$|^#+ ([^\n]*)$|^```sh\n(.*?)^```$/gms,
  )) {
    if (title !== undefined) [heading, count] = [title, 0]
    else if (text !== undefined) blocks.push({ name: `${page}, "${heading}", ${++count}`, lines: commandsIn(text) })
  }
  return blocks
}

/** One command per entry: a function and a call with data on further lines are one. */
function commandsIn(text: string): string[] {
  const commands: string[] = []
  let unfinished = ''
  for (const line of text.trimEnd().split('\n')) {
    unfinished += unfinished === '' ? line : `\n${line}`
    if (!isWhole(unfinished)) continue
    if (!/^\s*(#.*)?$/.test(unfinished)) commands.push(unfinished)
    unfinished = ''
  }
  if (unfinished !== '') throw new Error(`no whole command: ${unfinished}`)
  return commands
}

function isWhole(text: string): boolean {
  return !text.endsWith('\\') && spawnSync('bash', ['-n'], { input: text }).status === 0
}

/** What becomes of a line: it is run until it ends; it serves until the test ends; it starts units; it prints findings; or why it is not run. */
export type Treatment = 'run' | 'serve' | 'units' | 'report' | { readonly elsewhere: string }

const DOCKER = 'there is no Docker here; test/compose.test.ts and test/image.test.ts look at what it is given'
const SYSTEMD = 'systemd does not run in a chroot'
const PROXIES = 'test/cli/proxies.test.ts runs both proxies with these files'

/** The first that fits counts. A line of a page that is not known here fails the test: whoever writes one says here how it is tried. */
const TREATMENTS: readonly (readonly [RegExp, Treatment])[] = [
  [/^npm start( |$)|^npx postrider( *#|$)/, 'serve'],
  [/^npm test( |$)/, { elsewhere: 'it is the run of all tests' }],
  [/^node packages\/\S+\.ts$/, 'serve'],
  [/^systemctl enable --now /, 'units'],
  [/^(npx|npm run -s) postrider (-- )?doctor( |$)|^postrider doctor$/, 'report'],
  [/^systemctl daemon-reload$/, { elsewhere: SYSTEMD }],
  [/^(npx|npm run -s) postrider /, 'run'],
  [/^postrider(\(\) \(| (init|migrate|account) ?)/, 'run'],
  [/^dpkg -i |^npm install |^npm run -s setup/, 'run'],
  [/^cd |^cp (-a |deploy\/systemd|postrider\.service)|^useradd |^install -|^set -a; \. /, 'run'],
  [/^export /, 'run'],
  [/^curl |^printf /, 'run'],
  [/^sh deploy\/compose\/secrets\.sh /, 'run'],
  [/^docker compose /, { elsewhere: DOCKER }],
  [/^apt-get install (caddy|nginx)/, { elsewhere: PROXIES }],
  [/^cp deploy\/(caddy|nginx)\/|^certbot |^nginx -t|^systemctl (edit|restart) caddy/, { elsewhere: PROXIES }],
]

/** Throws if a page has a line of a kind that no test knows how to run. */
export function treatmentOf(line: string): Treatment {
  const found = TREATMENTS.find(([form]) => form.test(line))
  if (!found) throw new Error(`no test knows how to run this line of a page: ${line}`)
  return found[1]
}
