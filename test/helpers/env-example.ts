import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SETTINGS } from '@postrider/core'

/** Where .env.example lies. */
export const ENV_EXAMPLE = fileURLToPath(new URL('../../.env.example', import.meta.url))

const INTRODUCTION = `# Every setting with its default; take the # before a setting away to change it. All of them may be left out.
# It is not read by itself: put what you set into postrider.env, which commands in its folder read, or export it, or let systemd or compose read it.
# Comments are lines of their own, as here: systemd reads one after a value as a part of it.
# This file is written from packages/core/src/platform/config/config.ts by "npm run docs"; change the list there, not this file.
`

/** The file, as it should be. A default in brackets is not a value but says where the value comes from. */
export function envExample(): string {
  const settings = SETTINGS.map(({ name, meaning, default: byDefault }) => {
    const told = /^\(.*\)$|;/.test(byDefault) ? ` Default: ${byDefault.replace(/^\((.*)\)$/, '$1')}.` : ''
    return `${comment(meaning + told)}\n#${name}=${told ? '' : byDefault}\n`
  })
  return [INTRODUCTION, ...settings].join('\n')
}

/** In lines of at most 100 characters. */
function comment(text: string): string {
  const lines = ['#']
  for (const word of text.split(' ')) {
    if ((lines.at(-1) as string).length + word.length >= 100) lines.push('#')
    lines.push(`${lines.pop()} ${word}`)
  }
  return lines.join('\n')
}

if (import.meta.main) writeFileSync(ENV_EXAMPLE, envExample())
